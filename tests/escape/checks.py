"""What shows on the host that an attack got through: CHECK of a file names one.

Each is called with the Given (given.py) of the attack and what the attack
printed, after its cell has ended and its files came out, and gives the
evidence, or None. Bare, `given.box` is None and nothing was copied: what a
careless tool would do is then done by the check itself, or by the attack.
"""
