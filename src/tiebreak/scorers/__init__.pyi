from .ballots import ItemBallots as ItemBallots
from .contest import Contest as Contest
from .protocols import protocol as protocol
from .session import Session as Session
