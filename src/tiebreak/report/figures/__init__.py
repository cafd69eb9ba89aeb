"""The figures of a report: each is a `Drawing`, or None if there is nothing to draw.

canvas    style, colours, room for names,       boards      leaderboard, native against judged,
          `Drawing`: SVG, themed SVG, PNG                   scores by stars, subjects
panels    a row or a point for every model,     matrices    win rates, who ranks whom, labels
          names that do not cover each other    prices      agreement against price
boxes     reviewers, people, stability, κ       contests    CSD, also with changed scores
"""
