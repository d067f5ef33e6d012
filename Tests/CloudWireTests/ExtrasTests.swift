import CloudWire
import Testing

@Suite struct ExtrasTests {
    private var response: RecordsResponse {
        var deletedZone = WireError(.badRequest, zoneID: ZoneID(zoneName: "z"), tokenRefusal: .reset)
        deletedZone.zoneWasDeleted = true
        let conflict = WireError(
            .conflict, reason: "client oplock error updating record", recordName: "a", ckErrorCode: 14,
            serverRecord: WireRecord(recordName: "a", recordType: "todo", fields: ["n": Field(.int64(1))]))
        return RecordsResponse(records: [
            .error(conflict), .tombstone(Tombstone(recordName: "b", recordType: "todo")),
            .error(deletedZone),
        ])
    }

    @Test func ourOwnClientGetsTheExtraKeys() throws {
        #expect(try RecordsResponse(json: response.json(extras: true)) == response)
        let zone = WireZone(zoneID: ZoneID(zoneName: "z"), deleted: true, deletionReason: .purged)
        let changes = ChangesDatabaseResponse(zones: [.zone(zone)], syncToken: "AQ==", moreComing: false)
        #expect(try ChangesDatabaseResponse(json: changes.json(extras: true)) == changes)
        #expect(!String(decoding: try changes.json(), as: UTF8.self).contains("deletionReason"))
    }

    @Test func otherClientsGetApplesKeysOnly() throws {
        let text = String(decoding: try response.json(), as: UTF8.self)
        #expect(
            text == #"{"records":[{"recordName":"a","serverErrorCode":"CONFLICT","#
                + #""reason":"client oplock error updating record"},{"recordName":"b","deleted":true},"#
                + #"{"zoneID":{"zoneName":"z"},"serverErrorCode":"BAD_REQUEST"}]}"#)
    }

    @Test func theHeaderIsCaseInsensitive() {
        #expect(WireRequest(path: "/", headers: [("x-yap-client", "1")]).wantsExtras)
        #expect(!WireRequest(path: "/").wantsExtras)
        #expect(WireResponse(status: 200, headers: [(WireHeader.protocolVersion, "1")]).hasExtras)
        #expect(
            WireRequest(path: "/", query: [("ckWebAuthToken", "a+/=")]).queryItem("ckWebAuthToken") == "a+/=")
    }

    @Test(arguments: [
        (ServerErrorCode.accessDenied, 403), (.atomicError, 400), (.authenticationFailed, 401),
        (.authenticationRequired, 421), (.badRequest, 400), (.conflict, 409), (.exists, 409),
        (.internalError, 500),
        (.notFound, 404), (.quotaExceeded, 413), (.throttled, 429), (.tryAgainLater, 503),
        (.validatingReferenceError, 412), (.zoneNotFound, 404), (ServerErrorCode(rawValue: "NEW"), 500),
    ])
    func eachErrorCodeHasApplesStatus(code: ServerErrorCode, status: Int) {
        #expect(code.httpStatus == status)
    }
}
