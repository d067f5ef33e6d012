import ExtensionModel
import Foundation
import OwnThreads
import System
import TestSeed
import Testing
import Yap

/// A process with all extensions is killed at drawn places, again and again on one file. `YAP_KILLS` has the number.
@Suite(.onOwnThreads) struct ExtensionKillTests {
    static let killsCount = ProcessInfo.processInfo.environment["YAP_KILLS"].flatMap { Int($0) } ?? 60
    /// A kill needs a few lives at most.
    private static let livesPerKillMax = 20

    enum Moment: CaseIterable, Sendable {
        /// While it writes.
        case writing
        /// While extensions are filled with rows that exist.
        case filling
        /// While extensions are handed the rows that a process without them wrote.
        case catchingUp
    }

    @Test(arguments: Moment.allCases)
    func afterAKillAllExtensionsAreAsTheRowsAre(moment: Moment) throws {
        let seed = TestSeed.value
        let random = SeededRandomSource(seed: seed)
        let file = try ExtensionFile(seed: seed)
        try file.write(40, bits: ItemExtensions.allBits)
        try file.check("seed \(seed)")
        var (killsCount, livesCount, unfinishedCount) = (0, 0, 0)
        let wantedCount = max(1, Self.killsCount / Moment.allCases.count)
        while killsCount < wantedCount, livesCount < wantedCount * Self.livesPerKillMax {
            livesCount += 1
            let comment = "seed \(seed), \(moment), life \(livesCount)"
            try prepare(file, moment, random)
            let end = try live(file, moment, random, comment)
            killsCount += end.isKilled ? 1 : 0
            unfinishedCount += end.isUnfinished ? 1 : 0
        }
        #expect(killsCount == wantedCount)
        // Some of them were right in the middle.
        #expect(moment == .writing || unfinishedCount > 0 || wantedCount < 10)
        print("kills: \(moment), seed \(seed): \(killsCount), \(unfinishedCount) with rows left")
    }

    private func prepare(_ file: ExtensionFile, _ moment: Moment, _ random: SeededRandomSource) throws {
        let all = ItemExtensions.allBits
        switch moment {
        case .writing: return
        case .filling:
            try file.unregister(random.next(in: 0..<2) == 0 ? all : random.next(in: 1..<all + 1))
        case .catchingUp:
            let bits = random.next(in: 0..<2) == 0 ? 0 : random.next(in: 0..<all + 1)
            try file.write(5 + random.next(in: 0..<25), bits: bits)
        }
    }

    /// Lets a child live until it is killed, or ends, and checks the file after that.
    ///
    /// - Returns: Also whether extensions had still to get rows.
    private func live(
        _ file: ExtensionFile, _ moment: Moment, _ random: SeededRandomSource, _ comment: String
    ) throws -> (isKilled: Bool, isUnfinished: Bool) {
        let before = try file.count()
        let transactions = moment == .writing ? 60 : random.next(in: 0..<10)
        // Mostly at a call that changes the disk, of which there are few or many in a life; else from outside, at any
        // instruction.
        let isKilledFromOutside = random.next(in: 0..<4) == 0
        let place = isKilledFromOutside ? nil : 1 + random.next(in: 0..<4 << random.next(in: 0..<10))
        let life = try file.child(
            bits: ItemExtensions.allBits, lifeSeed: random.next(), transactions: transactions,
            killedAt: place)
        if isKilledFromOutside { life.wait(forLines: random.next(in: 0..<transactions + 2)) }
        let isKilled = life.end(isKilled: isKilledFromOutside, comment)
        let isUnfinished = try isKilled && !file.notes().isEmpty
        try file.check(comment)
        // At most one more: committed, and killed before it could say so.
        let newest = life.acknowledged ?? before
        #expect((newest...newest + (isKilled ? 1 : 0)).contains(file.replay.count), "\(comment)")
        return (isKilled, isUnfinished)
    }
}
