import ExtensionModel
import System
import TestSeed
import Testing

@testable import Yap

/// All kinds of extensions at once, in two instances that act as two processes and register now these, now those.
/// An extension that can be read equals a plain model of the rows, whichever process wrote them.
@Suite struct AllExtensionsModelTests {
    /// Instances of one file. Each is reopened now and then with other extensions.
    private final class Instances {
        let draw: ItemDraw
        let random: SeededRandomSource
        private let folder: TestFolder
        private(set) var all: [ItemInstance] = []
        private var replays: [ItemReplay]

        init(seed: UInt64, count: Int) throws {
            folder = try TestFolder()
            draw = ItemDraw(seed: seed)
            random = SeededRandomSource(seed: seed)
            replays = Array(repeating: ItemReplay(draw), count: count)
            for number in 0..<count {
                all.append(try open(number == 0 ? ItemExtensions.allBits : 0))
            }
        }

        func below(_ bound: Int) -> Int { random.next(in: 0..<bound) }

        func open(_ bits: Int) throws -> ItemInstance {
            let instance = try ItemInstance(path: folder.file, try TestFolder.options())
            try instance.extensions.register(bits, in: instance.database)
            return instance
        }

        func reopen(_ number: Int, _ bits: Int) throws {
            try all[number].close()
            all[number] = try open(bits)
        }

        func differences(_ number: Int, requiresAll: Bool = false) throws -> [String] {
            try all[number].differences(&replays[number], requiresAll: requiresAll)
        }
    }

    /// A few long runs and many short ones.
    private static func stepsCount(_ seed: UInt64) -> Int { seed &- TestSeed.value < 6 ? 60 : 16 }

    @Test(arguments: TestSeed.values(count: 300))
    func anExtensionThatCanBeReadEqualsTheRowsWhicheverProcessWroteThem(seed: UInt64) throws {
        let instances = try Instances(seed: seed, count: 2)
        for step in 0..<Self.stepsCount(seed) {
            let number = instances.below(2)
            if instances.below(10) == 0 {
                let all = ItemExtensions.allBits
                try instances.reopen(number, instances.below(2) == 0 ? all : instances.below(all + 1))
            } else {
                try instances.all[number].write(instances.draw, isUndone: instances.below(8) == 0)
            }
            for number in 0..<2 {
                let differences = try instances.differences(number)
                try #require(differences == [], "seed \(seed), step \(step), instance \(number)")
            }
        }
        // Registered again, everything can be read.
        try instances.all[1].close()
        try instances.reopen(0, ItemExtensions.allBits)
        let differences = try instances.differences(0, requiresAll: true)
        #expect(differences == [], "seed \(seed), at the end")
        try instances.all[0].close()
    }
}
