"""The permission rules that hold for a conversation: from flags, the home's settings and a trusted workspace's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from agenyx.app.settings import Settings
from agenyx.config import settings as files
from agenyx.config.settings import Files
from agenyx.config.settings_table import BY_NAME, RuleText
from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.core.verdict import Choice, Rule, RuleSource
from agenyx.policy.rules import ceiling, parse_rule, parse_rules, split_rules

_DECISIONS: tuple[Choice, ...] = ("deny", "ask", "allow")


def collect(settings: Settings, found: Files, aliases: Mapping[str, str]) -> tuple[tuple[Rule, ...], tuple[str, ...]]:
    """The rules that count, and a sentence for each that a workspace may not set.

    `aliases` maps case-folded names of tools to their names. Raises UsageError for a flag, ConfigError for a file.
    """
    rules: list[Rule] = []
    problems: list[str] = []
    flags: tuple[tuple[Choice, str, str], ...] = (
        ("deny", settings.disallowed, "--disallowed-tools"),
        ("allow", settings.allowed, "--allowed-tools"),
    )
    for decision, text, flag in flags:
        try:
            rules += parse_rules(split_rules(text), decision, "flag", flag, aliases)
        except UsageError as error:
            raise UsageError(f"{flag}: {error.message}", error.fix) from None
    rules += [parse_rule(text, decision, "flag", where, aliases) for decision, text, where in settings.rules]
    places: tuple[tuple[RuleSource, dict[str, files.Found]], ...] = (
        ("user", found.home),
        ("workspace", found.workspace),
    )
    for source, keys in places:
        for decision in _DECISIONS:
            if (entry := keys.get(f"permissions.{decision}")) is None or not isinstance(entry.value, tuple):
                continue
            where = f"{entry.path}:{entry.line}"
            for written in entry.value:
                try:
                    rule = parse_rule(written.rule, decision, source, where, aliases)
                except AgenyxError as error:
                    raise ConfigError(f"{where}: {error.message}", error.fix) from None
                rule = replace(rule, matches=written.matches, spares=written.spares)
                if why := ceiling(rule):
                    problems.append(f"{where}: the rule {rule.text} does not count: {why}")
                else:
                    rules.append(rule)
    return tuple(rules), tuple(problems)


def remember(home: str, rules: Sequence[Rule]) -> str:
    """Add rules to the home's settings for good. Returns what went wrong, or ""."""
    try:
        for decision in _DECISIONS:
            add(home, decision, [rule.text for rule in rules if rule.decision == decision])
    except (AgenyxError, OSError) as error:
        return str(error)
    return ""


def add(home: str, decision: Choice, texts: Sequence[str]) -> str:
    """Write rules behind those that the home's settings have, once each. Returns the path. Raises ConfigError."""
    key = BY_NAME[f"permissions.{decision}"]
    known = _written(home, decision)
    new = [text for text in dict.fromkeys(texts) if text not in {rule.rule for rule in known}]
    if not new:
        return files.home_file(home)
    return files.store(home, key, (*known, *(RuleText(text) for text in new)))


def remove(home: str, text: str) -> list[Choice]:
    """Take a rule out of the home's settings; says which lists it stood in. Raises ConfigError."""
    lists: list[Choice] = []
    for decision in _DECISIONS:
        known = _written(home, decision)
        kept = tuple(rule for rule in known if rule.rule != text)
        if len(kept) < len(known):
            files.store(home, BY_NAME[f"permissions.{decision}"], kept or None)
            lists.append(decision)
    return lists


def _written(home: str, decision: Choice) -> tuple[RuleText, ...]:
    found = files.read(files.home_file(home)).get(f"permissions.{decision}")
    return found.value if found is not None and isinstance(found.value, tuple) else ()
