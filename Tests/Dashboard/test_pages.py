"""Each page: accessibility rules, both themes, phones, headings and titles."""
from playwright.sync_api import expect

from support import DESK, NARROW, PHONE, THEMES, check_axe, check_no_overflow, scope, sign_in, visit


def pages(server):
    """Yields name, address and role of each page."""
    user = server.user("ann")
    yield "sign-in", "/dashboard/sign-in", None
    yield "overview", "/dashboard", "administer"
    yield "admins", "/dashboard/admins", "administer"
    yield "audit", "/dashboard/audit", "administer"
    yield "account", "/dashboard/account", "administer"
    yield "zones-choose", scope("zones"), "administer"
    yield "zones", scope(f"zones?user={user}"), "administer"
    yield "zone-changes", scope(f"zones/{user}/lists"), "administer"
    for rest in ("schema", "schema/types/Todo", "schema/indexes", "schema/roles", "schema/language", "subscriptions",
                 f"subscriptions/private/{user}"):
        yield rest, scope(rest), "administer"
    yield "schema-production", scope("schema", "production"), "administer"
    yield "deploy", scope("schema/deploy", "production"), "administer"
    yield "people", "/dashboard/people", "administer"
    yield "people-none", "/dashboard/people?named=nobody", "administer"
    yield "person", "/dashboard/people/ann", "administer"
    for rest in ("keys", "keys/server", "keys/webhooks"):
        yield rest, scope(rest), "administer"
    yield "keys-production", scope("keys/server", "production"), "administer"
    yield "now", "/dashboard/now", "administer"
    yield "now-scope", scope("now"), "administer"
    yield "now-month", scope("now?range=month"), "administer"
    yield "requests", "/dashboard/requests", "administer"
    yield "sync", scope("sync"), "administer"
    yield "sync-user", scope(f"sync/{user}"), "administer"
    yield "usage", scope("usage"), "administer"
    yield "usage-user", scope(f"usage?user={user}"), "administer"
    yield "slow", scope("slow"), "administer"
    yield "missing", "/dashboard/a/b/c/d", "administer"


def check_page(page):
    """Checks title and heading of the page that is shown, and its rules and its width in each theme and size."""
    expect(page.get_by_role("heading", level=1)).to_have_count(1)
    assert page.title().endswith("· Yap"), page.title()
    for size in (DESK, {"width": 640, "height": 400}, PHONE, NARROW):
        page.set_viewport_size(size)
        check_no_overflow(page)
        for theme in THEMES if size in (DESK, PHONE) else ():
            page.emulate_media(color_scheme=theme)
            check_axe(page)


def test_each_page_has_a_title_and_is_accessible_and_fits_in_both_themes(page, server):
    sign_in(page, server)
    titles = set()
    for name, path, _ in pages(server):
        page.set_viewport_size(DESK)
        visit(page, server, path)
        check_page(page)
        titles.add(page.title())
    assert len(titles) >= 8, titles


def test_commands_are_the_last_part(page, server):
    sign_in(page, server)
    for path in ("/dashboard", "/dashboard/admins", "/dashboard/audit", "/dashboard/account", "/dashboard/people",
                 "/dashboard/people/ann", scope("keys"), scope("keys/server"), scope("keys/webhooks"), "/dashboard/now",
                 "/dashboard/requests"):
        visit(page, server, path)
        page.get_by_text("The same as a command").click()
        expect(page.locator("details.command pre").first).to_contain_text("yap ")
        expect(page.locator("details.command pre").last).to_contain_text("curl --cookie")


def test_an_unknown_address_says_so(page, server):
    sign_in(page, server)
    visit(page, server, "/dashboard/a/b/c/d")
    expect(page.get_by_role("heading", level=1)).to_have_text("This page doesn’t exist")
    page.get_by_role("main").get_by_role("link", name="Overview").click()
    expect(page).to_have_url(f"{server.url}/dashboard")


def test_production_is_marked(page, server):
    sign_in(page, server)
    visit(page, server, scope("zones", "production"))
    expect(page.get_by_role("button", name="Environment: production")).to_be_visible()
    assert page.evaluate("document.documentElement.dataset.environment") == "production"
    page.get_by_role("button", name="Environment: production").click()
    page.get_by_role("link", name="Development", exact=True).click()
    expect(page.get_by_role("button", name="Environment: development")).to_be_visible()
    assert page.evaluate("document.documentElement.dataset.environment") == "development"


def test_the_rest_of_the_rail_is_in_a_menu_on_a_phone(page, server):
    sign_in(page, server)
    page.set_viewport_size(NARROW)
    visit(page, server, scope("zones"))
    rail = page.get_by_role("navigation", name="Pages")
    expect(rail.get_by_role("link", name="Keys")).to_be_hidden()
    rail.get_by_role("button", name="More").click()
    check_axe(page)
    rail.get_by_role("link", name="Keys").last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("API tokens")
    page.set_viewport_size(DESK)
    expect(rail.get_by_role("button", name="More")).to_be_hidden()
