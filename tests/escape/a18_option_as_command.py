"""A word that the attacker chose stands where a command or an argument belongs,
and is taken as an option: --bind, --workspace=/, -- (flatpak, CVE-2024-32462).

Blocked by the command line: after -- nothing is an option, and what follows the
code of run is the program's.
"""
WANTS = None
ENGINE = True
BARE_CANNOT = "what is attacked is karzer's own command line"
NEEDS = ("host_file",)
CHECK = "takes_no_option_for_a_word"

print("planted: only words")
