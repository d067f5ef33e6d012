import CloudKit
import Foundation
import Testing

@testable import YapCloudKit

/// `docs/WHEN_SYNC_GOES_WRONG.md` says of every status, pause, problem and code what the program itself says of it, and
/// of each code what the engine's own table says.
@Suite struct WhenSyncGoesWrongTests {
    /// The rows of the page's tables by their first cell, without its code marks, and the others.
    private let rows: [String: [String]]
    private let codes: [String: [String]]
    private let page: String

    init() throws {
        var root = URL(filePath: #filePath)
        for _ in 0..<3 { root.deleteLastPathComponent() }
        page = try String(
            contentsOf: root.appending(component: "docs/WHEN_SYNC_GOES_WRONG.md"), encoding: .utf8)
        var rows: [String: [String]] = [:]
        var codes: [String: [String]] = [:]
        for line in page.split(separator: "\n") where line.hasPrefix("| `") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            let name = cells[0].trimmingCharacters(in: ["`"])
            // Some problems are named as the codes that they come from: the table of the codes is wider.
            if cells.count > 3 {
                codes[name] = Array(cells.dropFirst())
            } else {
                rows[name] = Array(cells.dropFirst())
            }
        }
        self.rows = rows
        self.codes = codes
    }

    /// The page's word for what is done. The compiler sees to it that none is missing.
    private func word(_ disposition: ErrorDisposition) -> String {
        switch disposition {
        case .retry: "retry"
        case .eachItem: "each item"
        case .withNextBatch: "next batch"
        case .afterOthers: "after the others"
        case .split: "halve"
        case .uploadAgain: "upload again"
        case .merge: "merge"
        case .done: "done"
        case .recreate: "recreate"
        case .createZone: "create zone"
        case .dropToken: "fetch all"
        case .stopSaves: "no saves"
        case .stop: "stop"
        case .quarantine: "quarantine"
        }
    }

    @Test(arguments: CKError.Code.allCases) func eachCodesRowSaysWhatTheEngineDoes(_ code: CKError.Code)
        throws
    {
        let row = try #require(codes["\(code)"], "the page has no row for \(code)")
        let attempts: [ErrorDisposition.Attempt] = [.save, .delete, .fetch, .createZone, .subscribe]
        #expect(attempts.count == ErrorDisposition.Attempt.allCases.count)
        let words = attempts.map { word(ErrorDisposition.of(code, in: $0)) }
        #expect(row == [code.meaning] + words + [try #require(code.remedy)], "\(code)")
        for word in words { #expect(page.contains("- **\(word)**: "), "\(word) is not explained") }
    }

    /// One of each; the switches below don't compile when a case is missing here.
    static let problems: [CloudSyncProblem] = [
        .account(.notAuthenticated), .anotherUser, .quotaExceeded, .zoneDeletedByUser(zoneName: ""),
        .configuration(.badContainer, message: ""), .unknownDatabase(identifier: nil),
        .refused(recordName: "", .unknownItem), .stuck(recordName: ""),
        .unrestorable(recordName: "", keys: []),
        .damaged(recordName: ""), .zoneDiffers(zoneName: ""), .untrustedServer(message: ""),
        .wrongAddress(message: ""),
    ]
    static let pauses: [CloudSyncPause] = [
        .suspended, .network, .server(.zoneBusy), .otherProcess, .localDatabase, .anotherAccount,
    ]
    static let states: [CloudSyncStatus.State] = [.idle, .syncing, .waiting, .needsAttention]

    @Test func everyStatusPauseAndProblemSaysWhatThePageSays() throws {
        #expect(Set(Self.problems.map(number)) == Set(0...12))
        #expect(Set(Self.pauses.map(number)) == Set(0...5))
        #expect(Set(Self.states.map(number)) == Set(0...3))
        let said =
            Self.problems.map(\.explanation) + Self.pauses.map(\.explanation)
            + Self.states.map(\.explanation)
        for explanation in said {
            #expect(
                rows[explanation.name] == [explanation.meaning, explanation.remedy], "\(explanation.name)")
        }
        #expect(Set(rows.keys) == Set(said.map(\.name)), "the page has no row more")
    }

    /// What people are shown: what happened, of which record or zone, and what to do.
    @Test func descriptionsSayWhatHappenedAndWhatToDo() {
        for problem in Self.problems {
            #expect("\(problem)".contains(" What to do: "), "\(problem)")
            #expect("\(CloudSyncStatus(problems: [problem]))" == "\(problem)")
        }
        for pause in Self.pauses {
            #expect("\(pause)".hasPrefix(pause.explanation.meaning) && "\(pause)".contains(" What to do: "))
            #expect("\(CloudSyncStatus(pause: pause))" == "Waits: \(pause)")
        }
        let refused = "\(CloudSyncProblem.refused(recordName: "42", .permissionFailure))"
        #expect(refused.hasPrefix("Record 42: ") && refused.contains(CKError.Code.permissionFailure.meaning))
        #expect(refused.hasSuffix(CKError.Code.permissionFailure.remedy ?? "?"))
        let worded = CloudSyncProblem.refused(
            recordName: "42", .invalidArguments, reason: "field 'rank' is a text")
        #expect(
            "\(worded)".contains("It said: field 'rank' is a text. What to do: Read the server's message"))
        let token = "\(CloudSyncProblem.configuration(.missingEntitlement, message: "The token is wrong"))"
        #expect(token.hasPrefix("The token is wrong. What to do: ") && token.contains("CLOUDKIT_API_TOKEN"))
        #expect("\(CloudSyncProblem.zoneDeletedByUser(zoneName: "todos"))".hasPrefix("Zone todos: "))
        #expect(
            "\(CloudSyncStatus(isSyncing: true, pendingCount: 3))"
                == "Work is in progress; 3 changes wait.")
    }

    /// The compiler checks that each call exists, and the test that the page names it.
    @Test func theCallsThatItNamesExist() {
        _ = [
            CloudSync.suspend, CloudSync.resume, CloudSync.retry, CloudSync.didEnterBackground,
            CloudSync.willEnterForeground,
        ]
        _ = [YapDatabaseCloudKit.networkMayBeBack, YapDatabaseCloudKit.accountMayHaveChanged]
        _ = CloudSync.answerDeletedZone(zoneName:_:)
        for name in [
            "suspend", "resume", "retry", "didEnterBackground", "willEnterForeground", "networkMayBeBack",
            "accountMayHaveChanged", "answerDeletedZone",
        ] {
            #expect(page.contains("\(name)("), "\(name)")
        }
    }

    private func number(_ problem: CloudSyncProblem) -> Int {
        switch problem {
        case .account: 0
        case .anotherUser: 1
        case .quotaExceeded: 2
        case .zoneDeletedByUser: 3
        case .configuration: 4
        case .unknownDatabase: 5
        case .refused: 6
        case .stuck: 7
        case .unrestorable: 8
        case .damaged: 9
        case .zoneDiffers: 10
        case .untrustedServer: 11
        case .wrongAddress: 12
        }
    }

    private func number(_ pause: CloudSyncPause) -> Int {
        switch pause {
        case .suspended: 0
        case .network: 1
        case .server: 2
        case .otherProcess: 3
        case .localDatabase: 4
        case .anotherAccount: 5
        }
    }

    private func number(_ state: CloudSyncStatus.State) -> Int {
        switch state {
        case .idle: 0
        case .syncing: 1
        case .waiting: 2
        case .needsAttention: 3
        }
    }
}
