import CloudStore
import CloudWire

@testable import CloudServer
@testable import CloudService

/// Who else is there, and what waits for the user.
extension WalkedCloud {
    /// Somebody whom others find; returns the name of their record.
    func addPerson(_ name: String, email: String) throws -> String {
        let person = String(repeating: "\"", count: 60)
        let account = try control.accounts.add(
            name: name, givenName: person, familyName: person, email: email, passwordHash: "x")
        let made = try control.sessions.make(
            of: account, container: Self.container.identifier, environment: "development")
        guard let session = try control.sessions.find(token: made.token) else { throw Failure("no session") }
        try control.people.setDiscoverability(
            ControlDiscoverability(isDiscoverable: true, isListed: true), of: session)
        return try control.accounts.userRecordName(of: account, container: Self.container.identifier)
    }

    /// A device of the user that fetches pushes; returns its token.
    func makeDevice(_ name: String) throws -> String {
        let body = #"{"apnsEnvironment":"development","clientId":"\#(name)"}"#
        let response = try ask(request(.tokensCreate, Array(body.utf8)))
        return try TokensResponse(json: response.body).apnsToken
    }

    /// Makes as many notifications, and pushes for a device and the others.
    func notify(_ count: Int) throws {
        _ = try makeDevice("device")
        try makeZones(["todos"])
        try save(1) { _ in WorstRequests.text(1) }
        let alert = String(repeating: "a", count: 2_000)
        let watch =
            #"{"operationType":"create","subscription":{"subscriptionID":"w","subscriptionType":"query","#
            + #""query":{"recordType":"todo"},"firesOn":["update"],"#
            + #""notificationInfo":{"alertBody":"\#(alert)"}}}"#
        try ask(request(.subscriptionsModify, Array(#"{"operations":[\#(watch)]}"#.utf8)))
        for _ in 0..<count {
            try modify([Self.save("r0", WorstRequests.text(1))], device: "other")
            while try service.preparePushes() {}
        }
    }
}
