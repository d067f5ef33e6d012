import CloudKit
import CloudKitAdditions
import CloudKitTesting
import Foundation
import Testing

/// Users, the account, and the collection of notifications.
@Suite struct CooksTests {
    private let home: Home
    private let cooks: Cooks

    init() throws {
        let home = try Home()
        self.home = home
        cooks = home.phone.asDefault { Cooks() }
    }

    @Test func theFirstScreenSaysWhetherThereIsACloud() async throws {
        #expect(await heard { cooks.greeting(completion: $0) } == "Your recipes are on all your devices")
        let stranger = Cooks(container: home.cloud.signedOutDevice().container)
        #expect(await heard { stranger.greeting(completion: $0) }.hasPrefix("Sign in"))
        home.cloud.disconnect(home.phone)
        let offline = await heard { cooks.greeting(completion: $0) }
        #expect(offline == "Your recipes are on all your devices", "who is signed in is so offline too")
        home.phone.setAccountStatus(.couldNotDetermine)
        #expect(await heard { cooks.greeting(completion: $0) }.hasPrefix("No cloud: "))
    }

    @Test func aChangeOfTheAccountIsHeard() {
        let changes = Counter()
        cooks.observeAccount { changes.add() }
        let before = changes.value
        NotificationCenter.default.post(name: .CKAccountChanged, object: nil)
        #expect(changes.value > before)
        #expect(CKAccountChangedNotification == NSNotification.Name.CKAccountChanged)
    }

    @Test func theUserHasARecordAndCanBeFound() async throws {
        let recordID: CKRecordID? = await heard { done in cooks.myRecordID { id, _ in done(id) } }
        #expect(recordID?.recordName == "_ada")
        let me = await heard { cooks.me(completion: $0) }
        #expect(me?.recordID == recordID && me?.recordType == "Users")
        let stranger = Cooks(container: home.cloud.device(user: "bob").container)
        let ada = try #require(recordID)
        #expect(await heard { stranger.isFound(ada, completion: $0) } == false)
        #expect(await heard { cooks.letMeBeFound(completion: $0) })
        #expect(await heard { stranger.isFound(ada, completion: $0) })
        let all = await heard { done in stranger.everybody { count, error in done((count, error == nil)) } }
        #expect(all.0 == 0 && all.1, "who wants to be found is not yet in everybody's list")
    }

    @Test func whatAPushDidNotBringIsInTheCollection() async throws {
        let home = try Home(TestCloud(execution: .threads))
        let phone = home.phone.asDefault { Pantry() }
        let reader = Cooks(container: home.laptop.container)
        try await home.phone.container.privateCloudDatabase.save(phone.zone)
        let laptop = home.laptop.asDefault { Pantry() }
        #expect(await outcome { laptop.followZone(completion: $0) } == nil)
        var pushes = reader.container.notifications().makeAsyncIterator()
        _ = await pushes.next()
        try await home.phone.container.privateCloudDatabase.save(phone.recipe("soup", title: "Soup"))
        guard case .notification(let push as CKRecordZoneNotification)? = await pushes.next() else {
            Issue.record("no push of a zone came")
            return
        }
        #expect(push.recordZoneID == phone.zone.zoneID && push.alertBody == "The pantry changed")

        let (missed, token) = await heard { done in reader.inbox(since: nil) { done(($0, $1)) } }
        #expect(missed.map(\.subscriptionID) == ["pantry-zone"] && token != nil)
        #expect(missed.first?.notificationType == CKNotificationType.recordZone)
        let (marked, error) = await heard { done in reader.markRead(missed) { done(($0, $1)) } }
        #expect(error == nil && marked == missed.compactMap(\.notificationID))
        let (after, _) = await heard { done in reader.inbox(since: token) { done(($0, $1)) } }
        #expect(after.map(\.notificationType) == [.readNotification])
    }
}
