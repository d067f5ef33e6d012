import CloudKit
import CloudKitTesting
import CloudWire
import Foundation
import Testing

@testable import CloudKit

@Suite struct ErrorTests {
    @Test func theCodeThatOurServerNamesWins() {
        for code in CKError.Code.allCases {
            let error = WireError(.badRequest, ckErrorCode: code.rawValue)
            #expect(ErrorTable.code(for: error) == code)
        }
        #expect(ErrorTable.code(for: WireError(.notFound, ckErrorCode: 999)) == .unknownItem)
    }

    @Test func everyCodeHasApplesNumberAndWords() {
        #expect(CKError.Code.allCases.map(\.rawValue) == Array(1...37))
        #expect(Set(CKError.Code.allCases.map(\.summary)).count == 37)
    }

    @Test func refusedTokensAreKnownByTheirReasonToo() {
        let error = CKError(
            WireError(.badRequest, reason: "BadRequest: client knowledge differs from server knowledge"))
        #expect(error.code == .changeTokenExpired && error.changeTokenRefusal == nil)
        let ours = CKError(WireError(.badRequest, tokenRefusal: .reset))
        #expect(ours.code == .changeTokenExpired && ours.changeTokenRefusal == .reset)
    }

    @Test func whatTheServerSaysStandsInTheError() {
        let error = CKError(
            WireError(.throttled, reason: "slow down", retryAfterSeconds: 2.5, uuid: "u"))
        #expect(error.retryAfterSeconds == 2.5)
        #expect(error.localizedDescription == "slow down (request u)")
        #expect(error.userInfo["RequestUUID"] as? String == "u")
    }

    // MARK: Servers that aren't ours

    private func record(_ name: String, tag: String? = nil) throws -> CKRecord {
        var state = RecordState(recordType: "todo", recordID: CKRecord.ID(recordName: name))
        state.changeTag = tag
        return CKRecord(state: state)
    }

    @Test func aConflictWithoutTheServersRecordLooksItUp() async throws {
        let transport = ScriptedTransport(
            json: #"{"records":[{"recordName":"1","serverErrorCode":"CONFLICT","reason":"stale"}]}"#,
            """
            {"records":[{"recordName":"1","recordType":"todo","recordChangeTag":"b",
                         "fields":{"title":{"value":"milk","type":"STRING"}}}]}
            """
        )
        do {
            try await transport.database.save(try record("1", tag: "a"))
            Issue.record("a stale record was saved")
        } catch let error as CKError {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?["title"] as? String == "milk")
            #expect(error.serverRecord?.recordChangeTag == "b")
            #expect(error.clientRecord?.recordChangeTag == "a" && error.ancestorRecord != nil)
        }
        #expect(transport.requests.map { $0.path.hasSuffix("lookup") } == [false, true])
        #expect(transport.requests.allSatisfy { $0.wantsExtras && $0.queryItem("ckWebAuthToken") == "t" })
    }

    @Test func aServerWithALowerLimitIsAskedInParts() async throws {
        let refusal =
            """
            {"serverErrorCode":"BAD_REQUEST",
             "reason":"more than the maximum number of items in a single request (200)"}
            """
        func answer(_ count: Int) -> Result<WireResponse, CKError> {
            let results = (0..<count).map { #"{"recordName":"\#($0)","deleted":true}"# }
            return .success(
                WireResponse(
                    status: 200, body: Array(#"{"records":[\#(results.joined(separator: ","))]}"#.utf8)))
        }
        let transport = ScriptedTransport([
            .success(WireResponse(status: 400, body: Array(refusal.utf8))), answer(200), answer(50),
        ])
        let result = try await transport.database.modifyRecords(
            saving: [], deleting: (0..<250).map { CKRecord.ID(recordName: "\($0)") })
        #expect(result.deleteResults.count == 250 && result.deleteResults.values.allSatisfy(\.isSuccess))
    }

    @Test(arguments: [
        "", "{", "[]", #"{"records":[]}"#, #"{"records":[{"recordName":"1"}]}"#,
        #"{"records":[{"recordName":"1","deleted":true}]}"#, #"{"records":[{"recordType":"todo"}]}"#,
    ])
    func anAnswerThatCannotBeReadIsAnErrorAndNoCrash(json: String) async throws {
        let transport = ScriptedTransport(json: json)
        let code = await codeThrown { try await transport.database.save(try record("1")) }
        #expect(code == .serverResponseLost)
    }

    @Test func anAnswerThatIsNotTheProtocolsIsKnownByItsStatus() async throws {
        let transport = ScriptedTransport([
            .success(
                WireResponse(
                    status: 503, headers: [("retry-after", "7")], body: Array("<html>".utf8)))
        ])
        do {
            _ = try await transport.database.record(for: CKRecord.ID(recordName: "1"))
            Issue.record("HTML was read as a record")
        } catch let error as CKError {
            #expect(error.code == .serviceUnavailable && error.retryAfterSeconds == 7)
        }
    }

    @Test func anAnswerWhoseTokenDoesNotMoveOnEndsTheFetch() async throws {
        let page = #"{"zones":[{"zoneID":{"zoneName":"z"},"records":[],"syncToken":"t","moreComing":true}]}"#
        let transport = ScriptedTransport(json: page, page, page)
        let said = Collected<CKError.Code?>()
        let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [CKRecordZone.ID(zoneName: "z")])
        operation.fetchRecordZoneChangesResultBlock = { said.append($0.code) }
        transport.database.add(operation)
        #expect(said.all == [.serverResponseLost] && transport.requests.count == 2)
    }

    @Test func aRequestRefusedForItsZoneFailsThatZonesItemsOnly() async throws {
        func answer(_ status: Int, _ json: String) -> Result<WireResponse, CKError> {
            .success(WireResponse(status: status, body: Array(json.utf8)))
        }
        let transport = ScriptedTransport([
            answer(404, #"{"serverErrorCode":"ZONE_NOT_FOUND"}"#),
            answer(200, #"{"records":[{"recordName":"1","deleted":true}]}"#),
            answer(503, #"{"serverErrorCode":"TRY_AGAIN_LATER","retryAfter":9}"#),
        ])
        let ids = ["a", "b", "c"].map {
            CKRecord.ID(recordName: "1", zoneID: CKRecordZone.ID(zoneName: $0))
        }
        let result = try await transport.database.modifyRecords(saving: [], deleting: ids)
        #expect(result.deleteResults[ids[0]]?.code == .zoneNotFound)
        #expect(result.deleteResults[ids[1]]?.isSuccess == true)
        #expect(result.deleteResults[ids[2]]?.code == .serviceUnavailable)
        #expect(transport.requests.count == 3)
    }
}
