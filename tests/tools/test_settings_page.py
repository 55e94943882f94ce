"""docs/settings.md has the settings that a run takes."""

from tools import settings_page


def test_the_page_has_the_present_settings() -> None:
    text = settings_page.PAGE.read_text(encoding="utf-8")
    assert settings_page.page(text) == text, "write it anew: python -m tools.settings_page"
