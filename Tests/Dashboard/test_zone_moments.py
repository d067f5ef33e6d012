"""A zone as it was at a change, and the difference between two changes."""
import json

from playwright.sync_api import expect

from data_support import Place
from support import NARROW, THEMES, check_axe, check_no_overflow, scope, sign_in, visit


class Zone(Place):
    """A zone of ann's with a history that is known: each change by itself, with a time of its own."""

    def pages(self, query=""):
        return scope(f"zones/{self.user}/{self.zone}{query}")

    def token(self):
        """Returns the sync token of a device that knows all."""
        body = {"zones": [{"zoneID": {"zoneName": self.zone}}]}
        return self.server.data_post("development", "private", "changes/zone", body, user=self.user)["zones"][0][
            "syncToken"]

    def change(self, name):
        self.save({name: {"title": ("STRING", f"A title of {name}")}})
        return int(self.record(name)["recordChangeTag"].split(".")[0], 36)

    def delete(self, name):
        self.post("records/modify", {"operations": [{"operationType": "forceDelete", "record": {"recordName": name}}]})


def rows(page, label):
    return page.get_by_role("region", name=f"{label}, table").locator("tbody tr")


def names(page, label):
    return [one.strip() for one in rows(page, label).locator(".name").all_inner_texts()]


def story(server):
    """Makes kept, moved, gone and late; returns the zone, and a moment between as a number and as a token."""
    zone = Zone(server)
    for name in ("moved", "gone", "kept"):
        change = zone.change(name)
    token = zone.token()
    zone.change("late")
    zone.change("moved")
    zone.delete("gone")
    return zone, change, token


def test_a_zone_as_it_was_at_a_change(page, server):
    zone, change, token = story(server)
    sign_in(page, server)
    for at in (str(change), token.replace("+", "%2B")):
        visit(page, server, zone.pages(f"?at={at}"))
        expect(page.get_by_role("main")).to_contain_text("3 changes came after")
        assert names(page, "Unchanged records") == ["kept"]
        later = rows(page, "Records changed since")
        expect(later.filter(has_text="late")).to_contain_text("Created since")
        expect(later.filter(has_text="moved")).to_contain_text("Changed since")
        expect(later.filter(has_text="gone")).to_contain_text("Deleted since")
        expect(later).to_have_count(3)
    for theme in THEMES:
        page.emulate_media(color_scheme=theme)
        check_axe(page)
    page.set_viewport_size(NARROW)
    check_no_overflow(page)
    check_axe(page)


def test_the_newest_change_is_the_zone_as_it_is(page, server):
    zone, _, _ = story(server)
    sign_in(page, server)
    visit(page, server, zone.pages())
    page.get_by_role("link", name="As it was").click()
    expect(page.get_by_text("is the newest: the zone is as it was.")).to_be_visible()
    assert sorted(names(page, "Unchanged records")) == ["kept", "late", "moved"]
    box = page.get_by_label("At change")
    newest = int(box.input_value())
    box.fill("1")
    page.get_by_role("button", name="Show the zone").click()
    expect(page.get_by_text(f"{newest - 1} changes came after change 1.")).to_be_visible()
    assert page.url.endswith("?at=1"), page.url
    page.go_back()
    expect(page.get_by_text("is the newest: the zone is as it was.")).to_be_visible()


def test_what_no_change_is_says_why(page, server):
    zone, _, token = story(server)
    other = Zone(server)
    sign_in(page, server)
    for at, reason in (("9999", "The zone’s newest change has the number"), ("nonsense", "neither the number"),
                       (token.replace("+", "%2B"), "The token is of another zone")):
        visit(page, server, (other if "token" in reason else zone).pages(f"?at={at}"))
        expect(page.get_by_role("heading", name="This can’t be shown")).to_be_visible()
        expect(page.get_by_role("main")).to_contain_text(reason)


def test_the_difference_between_two_changes(page, server):
    zone, change, token = story(server)
    sign_in(page, server)
    visit(page, server, zone.pages(f"?until={change}"))
    assert names(page, "Records changed between them") == ["kept"]
    assert names(page, "Records changed later") == ["late", "moved", "gone"]
    until = zone.change("until")
    zone.delete("until")
    zone.change("kept")
    visit(page, server, zone.pages())
    page.get_by_label("Since", exact=True).fill(token)
    page.get_by_label("Until", exact=True).fill(str(until))
    page.get_by_role("button", name="Show changes").click()
    inside = rows(page, "Records changed between them")
    expect(inside).to_have_count(3)
    assert names(page, "Records changed between them") == ["late", "moved", "gone"]
    expect(inside.filter(has_text="gone")).to_contain_text("Deleted")
    assert names(page, "Records changed later") == ["until", "kept"]
    check_axe(page)
    page.reload()
    expect(inside).to_have_count(3)
    # The same by numbers, and without an end.
    visit(page, server, zone.pages(f"?since={change}&until={until}"))
    expect(inside).to_have_count(3)
    visit(page, server, zone.pages(f"?since={change}"))
    expect(rows(page, "Changes")).to_have_count(5)


def test_long_lists_come_page_by_page(page, server):
    zone = Zone(server)
    zone.fill(70)
    at = zone.change("last")
    zone.save({f"later-{number:03}": {"title": ("STRING", "Later")} for number in range(60)})
    sign_in(page, server)
    visit(page, server, zone.pages(f"?at={at}"))
    for label, count in (("Unchanged records", 71), ("Records changed since", 60)):
        part = page.locator("section").filter(has=page.get_by_role("region", name=f"{label}, table"))
        expect(rows(page, label)).to_have_count(50)
        part.get_by_role("button", name="Show 50 more").click()
        expect(rows(page, label)).to_have_count(count)
        expect(part.get_by_role("status")).to_have_text(f"All {count} records shown")
    assert names(page, "Unchanged records")[0] == "last"


def test_deletions_that_were_discarded_are_said_to_be_missing(page, server):
    zone, change, _ = story(server)
    refused = []

    def answer(route):
        """Refuses the first token with which the page asks for deletions, as after the time for which they are kept."""
        asked = json.loads(route.request.post_data)["zones"][0]
        if "reverse" in asked or refused:
            return route.continue_()
        refused.append(asked["syncToken"])
        return route.fulfill(json={"zones": [{"zoneID": asked["zoneID"], "serverErrorCode": "BAD_REQUEST",
                                              "reason": "client knowledge differs", "tokenRefusal": "expired"}]})

    page.route("**/changes/zone?*", answer)
    sign_in(page, server)
    visit(page, server, zone.pages(f"?at={change}"))
    assert names(page, "Records changed since") == ["late", "moved"]
    expect(page.get_by_text("records that were deleted since are missing here")).to_be_visible()
    assert refused
