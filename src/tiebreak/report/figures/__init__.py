"""The figures of a report: each a `Drawing` with its words, or None where there is nothing to draw.

canvas    style, colours, room for names,       boards      leaderboard, native against judged,
          `Drawing`: SVG, themed SVG, PNG                   scores by stars, subjects, dates, causes
panels    a row or a point for every model,     matrices    win rates, who ranks whom, labels
          names that do not cover each other    prices      agreement against price
boxes     reviewers, people, stability, κ       contests    CSD, also with spoilt scores
"""
