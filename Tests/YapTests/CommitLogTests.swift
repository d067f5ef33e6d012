import Testing

@testable import Yap

struct CommitLogTests {
    private func record(
        _ number: UInt64, writer: UInt64 = 7, after: UInt64? = nil, registry: [RegisteredExtension]? = nil
    )
        -> CommitRecord
    {
        CommitRecord(
            previous: SnapshotMark(number: number - 1, writer: after ?? writer),
            mark: SnapshotMark(number: number, writer: writer), changes: CommitChanges(),
            extensionChanges: [],
            registry: registry)
    }

    private func log() -> CommitLog {
        CommitLog(newest: SnapshotMark(number: 0, writer: 7), publisher: CommitPublisher())
    }

    private func mark(_ number: UInt64, _ writer: UInt64 = 7) -> SnapshotMark {
        SnapshotMark(number: number, writer: writer)
    }

    @Test func onlyAnUnbrokenChainOfOurCommitsExplainsASnapshot() {
        let log = log()
        let records = [record(1), record(2), record(3)]
        log.addPending(records)
        #expect(log.records(from: mark(1), to: mark(3))?.map(\.mark.number) == [2, 3])
        #expect(log.records(from: mark(0), to: mark(3))?.count == 3)
        #expect(log.records(from: mark(2), to: mark(9)) == nil)
        // The same numbers by another writer: ours failed, and another process took the number.
        #expect(log.records(from: mark(2), to: mark(3, 8)) == nil)
        #expect(log.records(from: mark(2, 8), to: mark(3)) == nil)
    }

    @Test func aPendingCommitThatIsTakenBackExplainsNothing() {
        let log = log()
        log.addPending([record(1)])
        log.removePending([record(1)])
        #expect(log.records(from: mark(0), to: mark(1)) == nil)
        #expect(log.newest == mark(0))
    }

    /// Between COMMIT and the next line of the writer, a reader has the tables of the new snapshot.
    @Test func extensionsAreThoseOfTheSnapshotAlsoBeforeItsCommitIsConfirmed() {
        let log = log()
        let words = RegisteredExtension(
            name: "words", instance: WordCounter(), sinceSnapshot: 1, generation: 1)
        func names(_ number: UInt64) -> [String] { log.registry(at: mark(number)).map(\.name) }
        let registration = [record(1, registry: [words]), record(2)]
        log.addPending(registration)
        #expect(names(0) == [] && names(2) == ["words"])
        log.confirm(registration)
        #expect(names(2) == ["words"])
        let removal = [record(3, registry: [])]
        log.addPending(removal)
        #expect(names(2) == ["words"] && names(3) == [])
        log.removePending(removal)
        #expect(names(3) == ["words"])
        log.addPending(removal)
        log.confirm(removal)
        #expect(names(3) == [])
    }

    @Test func theLogKeepsABoundedNumberOfCommits() {
        let log = log()
        for number in 1...UInt64(3 * CommitLog.recordsMax) {
            log.addPending([record(number)])
            log.confirm([record(number)])
        }
        let newest = log.newest
        #expect(newest.number == UInt64(3 * CommitLog.recordsMax))
        #expect(log.records(from: mark(newest.number - 5), to: newest)?.count == 5)
        #expect(
            log.records(from: mark(newest.number - UInt64(2 * CommitLog.recordsMax) - 1), to: newest) == nil)
    }

    @Test func aMarkIsSixteenBytesOnDisk() {
        let mark = SnapshotMark(number: 0x0102, writer: 0x0A00_0000_0000_000B)
        #expect(mark.bytes == [0, 0, 0, 0, 0, 0, 1, 2, 0x0A, 0, 0, 0, 0, 0, 0, 0x0B])
        #expect(mark.bytes.withUnsafeBytes { SnapshotMark($0) } == mark)
        #expect([UInt8](repeating: 0, count: 8).withUnsafeBytes { SnapshotMark($0) } == nil)
    }
}
