import CloudStore
import Crypto
import Foundation
import SQLiteTestSupport
import System
import Testing

/// What both kinds of places for files promise, and what the one on a disk keeps whatever fails.
@Suite struct AssetFilesTests {
    let folder: TemporaryFolder
    let clock = ManualTimeSource()

    init() throws {
        folder = try TemporaryFolder()
    }

    private func places() -> [any AssetStore] {
        [MemoryAssetStore(clock: clock), DiskAssetStore(path: folder.file("a/b.assets"), clock: clock)]
    }

    private func keep(_ bytes: [UInt8], in files: any AssetStore) throws -> AssetUse {
        let writer = try files.begin()
        for piece in [bytes.prefix(10), bytes.dropFirst(10)] { try writer.write(Array(piece)) }
        return try writer.finish()
    }

    private func read(_ digest: [UInt8], from files: any AssetStore) throws -> [UInt8]? {
        guard let reader = try files.open(digest) else { return nil }
        var bytes: [UInt8] = []
        while true {
            let piece = try reader.read(at: Int64(bytes.count), bytesMax: 7)
            if piece.isEmpty { break }
            bytes += piece
        }
        #expect(reader.bytes == Int64(bytes.count))
        return bytes
    }

    @Test func aFileIsFoundByItsDigestOnceItIsFinished() throws {
        for files in places() {
            for bytes in [[], [7], [UInt8](repeating: 1, count: 100_000)] {
                let digest = try SHA256.hash(bytes)
                let writer = try files.begin()
                try writer.write(bytes)
                #expect(try files.open(digest) == nil)
                #expect(try writer.finish() == AssetUse(digest: digest, bytes: Int64(bytes.count)))
                #expect(try read(digest, from: files) == bytes)
                // Another with the same bytes takes its place.
                #expect(try keep(bytes, in: files).digest == digest)
                #expect(try read(digest, from: files) == bytes)
            }
            let given = try files.begin()
            try given.write([1, 2])
            given.cancel()
            #expect(try files.open(SHA256.hash([1, 2])) == nil)
            #expect(try files.files(after: nil, filesMax: 10).count == 3)
        }
    }

    @Test func filesAreListedInOrderAndRemovedOnlyWhenTheyAreOld() throws {
        for files in places() {
            let start = clock.nowMilliseconds()
            let digests = try (0..<40).map { try keep([UInt8($0)], in: files).digest }
                .sorted { $0.lexicographicallyPrecedes($1) }
            var listed: [[UInt8]] = []
            while true {
                let page = try files.files(after: listed.last, filesMax: 7)
                listed += page.map(\.digest)
                #expect(page.allSatisfy { $0.bytes == 1 && $0.atMilliseconds == start })
                if page.count < 7 { break }
            }
            #expect(listed == digests)
            clock.advance(bySeconds: 10)
            #expect(try files.renew(digests[1]))
            #expect(try !files.renew([UInt8](repeating: 0, count: 32)))
            #expect(try files.remove(digests[0], ifOlderThan: start + 1))
            #expect(try !files.remove(digests[1], ifOlderThan: start + 1), "it was renewed")
            #expect(try !files.remove(digests[2], ifOlderThan: start))
            #expect(try !files.remove(digests[0], ifOlderThan: start + 1))
            #expect(try files.files(after: nil, filesMax: 100).map(\.digest) == Array(digests.dropFirst()))
        }
    }

    /// Fails, or seems to be killed, at the step with a number.
    private final class Failing: Sendable {
        private let left: Lock<Int>
        let isKill: Bool
        init(at number: Int, isKill: Bool) {
            left = Lock(number)
            self.isKill = isKill
        }

        var hasFailed: Bool { left.withLock { $0 < 0 } }

        var calls: FileCalls {
            FileCalls { _, _ in
                let left = self.left.withLock { left in
                    left -= 1
                    return left
                }
                return left == -1 || self.isKill && left < 0 ? ENOSPC : nil
            }
        }
    }

    @Test(arguments: [true, false])
    func whateverStepFailsAFileIsThereWholeOrNotAtAll(_ isKill: Bool) throws {
        let bytes = [UInt8](repeating: 3, count: 50_000)
        let digest = try SHA256.hash(bytes)
        var number = 0
        while true {
            let path = folder.file("\(isKill)-\(number).assets")
            let failing = Failing(at: number, isKill: isKill)
            let files = DiskAssetStore(path: path, clock: clock, calls: failing.calls)
            var acknowledged = false
            do {
                acknowledged = try keep(bytes, in: files).digest == digest
            } catch {
                guard case .diskFull(let place) = error as? CloudStoreError else { throw error }
                #expect(place.hasPrefix(folder.path))
            }
            // The next life, on a disk that is well.
            let next = DiskAssetStore(path: path, clock: clock)
            let left = try next.sweepUnfinished()
            #expect(isKill || left == 0, "what failed cleans up after itself, at step \(number)")
            let found = try read(digest, from: next)
            #expect(found == nil || found == bytes, "step \(number)")
            #expect(!acknowledged || found == bytes, "step \(number)")
            #expect(try keep(bytes, in: next).digest == digest && next.sweepUnfinished() == 0)
            guard failing.hasFailed else { break }
            number += 1
        }
        #expect(number > 8, "all steps had their turn")
    }

    @Test func aFileIsOnlyFinishedWhenTheFoldersThatLeadToItAreOnTheDisk() throws {
        let bytes: [UInt8] = [1, 2, 3]
        let path = folder.file("power.assets")
        // One that makes the folder and dies before it is synced.
        let synced = Lock(0)
        let calls = FileCalls { step, _ in
            guard step == .syncFolder else { return nil }
            let count = synced.withLock { count in
                count += 1
                return count
            }
            return count > 2 ? ENOSPC : nil
        }
        let first = DiskAssetStore(path: path, clock: clock, calls: calls)
        #expect(throws: CloudStoreError.self) { try keep(bytes, in: first) }
        let steps = Lock(0)
        let counted = FileCalls { step, _ in
            if step == .syncFolder { steps.withLock { $0 += 1 } }
            return nil
        }
        let next = DiskAssetStore(path: path, clock: clock, calls: counted)
        _ = try keep(bytes, in: next)
        #expect(steps.withLock { $0 } == 3, "the file's folder, the one with that, and the one with that")
        _ = try keep(bytes, in: next)
        #expect(steps.withLock { $0 } == 4, "once in a life")
    }

    @Test func whatALifeLeftUnfinishedIsSweptByTheNext() throws {
        let path = folder.file("x.assets")
        let isKilled = Lock(false)
        let calls = FileCalls { step, _ in
            isKilled.withLock { isKilled in
                isKilled = isKilled || step == .sync
                return isKilled ? EIO : nil
            }
        }
        let files = DiskAssetStore(path: path, clock: clock, calls: calls)
        #expect(throws: CloudStoreError.self) { try keep([UInt8](repeating: 1, count: 100), in: files) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/incoming").count == 1)
        let next = DiskAssetStore(path: path, clock: clock)
        #expect(try next.sweepUnfinished() == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(path)/incoming") == [])
        #expect(try next.files(after: nil, filesMax: 10) == [])
    }
}
