import ExtensionModel
import OwnThreads
import System
import TestSeed
import Testing
import Yap

/// Two processes write one file at the same time, each with extensions of its own, and are reopened and killed.
@Suite(.onOwnThreads) struct ExtensionProcessesTests {
    private static let roundsCount = 5
    private static let transactionsCount = 12

    @Test(arguments: TestSeed.values(count: 16))
    func extensionsAreAsTheRowsAreWhicheverProcessWritesThem(seed: UInt64) throws {
        let file = try ExtensionFile(seed: seed, fillerBytesMax: 20_000)
        let random = SeededRandomSource(seed: seed)
        var instance = try open(file, random)
        for round in 0..<Self.roundsCount {
            let comment = "seed \(seed), round \(round)"
            if random.next(in: 0..<2) == 0 {
                try instance.close()
                if random.next(in: 0..<2) == 0 { try file.check(comment) }
                instance = try open(file, random)
            }
            let place = random.next(in: 0..<3) == 0 ? 1 + random.next(in: 0..<400) : nil
            let child = try file.child(
                bits: bits(random), lifeSeed: random.next(), transactions: Self.transactionsCount,
                killedAt: place)
            // Half of the rounds, one after the other.
            if random.next(in: 0..<2) == 0 { child.wait(forLines: .max) }
            for number in 0..<random.next(in: 0..<Self.transactionsCount) {
                try instance.write(file.draw, isUndone: random.next(in: 0..<8) == 0)
                let differences = try instance.differences(&file.replay)
                #expect(differences == [], "\(comment), transaction \(number)")
            }
            _ = child.end(comment)
            let differences = try instance.differences(&file.replay)
            #expect(differences == [], "\(comment), at its end")
        }
        try instance.close()
        try file.check("seed \(seed), at the end")
    }

    private func bits(_ random: SeededRandomSource) -> Int {
        random.next(in: 0..<2) == 0 ? ItemExtensions.allBits : random.next(in: 0..<ItemExtensions.allBits + 1)
    }

    private func open(_ file: ExtensionFile, _ random: SeededRandomSource) throws -> ItemInstance {
        var options = YapDatabaseOptions()
        options.busyTimeoutMilliseconds = 60_000
        let instance = try ItemInstance(path: file.path, options)
        try instance.extensions.register(bits(random), in: instance.database, besideOthers: true)
        return instance
    }
}
