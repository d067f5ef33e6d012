import System
import TestSeed
import Testing

@testable import Yap

/// Random mappings of random groups through random batches.
struct ViewMappingsPropertyTests {
    /// Draws mappings with their model, and operations.
    private struct Draw {
        private static let keys = "0123456789abcdefghijklmnopqrstuvwxyz".map(String.init)

        let random: SeededRandomSource
        let groups = ["a", "b", "c", "u"]

        func chance(_ percent: Int) -> Bool { random.next(in: 0..<100) < percent }

        func number(_ range: ClosedRange<Int>) -> Int {
            random.next(in: range.lowerBound..<range.upperBound + 1)
        }

        func range() -> YapDatabaseViewRange {
            let edge: YapDatabaseViewRange.Edge = chance(50) ? .beginning : .end
            return switch number(0...7) {
            case 0...1: .all
            case 2: .first(number(0...5))
            case 3: .last(number(0...5))
            case 4: .window(length: number(0...4), offset: number(0...4), from: edge)
            default:
                .flexible(
                    length: number(0...5), offset: chance(50) ? 0 : number(0...3), from: edge,
                    min: chance(70) ? 0 : number(0...4), max: chance(70) ? .max : number(0...6),
                    growing: YapDatabaseViewRange.Growth(rawValue: number(0...3)))
            }
        }

        func mappings() -> (mappings: YapDatabaseViewMappings<String>, model: ViewModel) {
            let shown = chance(50) ? ["a", "b", "c"] : ["c", "a"]
            var model = ViewModel(groups: shown)
            var mappings = shown.first == "a" ? YapDatabaseViewMappings.where { $0 < "d" } : .only(shown)
            if shown.first == "c" { model.isDynamic = chance(50) }
            if model.isDynamic { mappings = mappings.dynamic() }
            for group in shown {
                if chance(30) {
                    mappings = mappings.reversed(group)
                    model.reversed.insert(group)
                }
                let range = range()
                mappings = mappings.rows(range, in: group)
                model.ranges[group] = range
            }
            if chance(40) {
                model.threshold = number(0...12)
                mappings = mappings.consolidated(under: model.threshold, as: chance(50) ? "all" : "a")
            }
            if chance(40) {
                mappings = mappings.dependents(at: [[1], [-1], [2], [-1, 1], [-2, 1, 3]][number(0...4)])
            }
            return (mappings, model)
        }

        func rows() -> [String: String] {
            var rest = Self.keys.map { (random.next(), $0) }.sorted { $0.0 < $1.0 }.map(\.1)[...]
            return groups.reduce(into: [:]) { rows, group in
                let count = chance(25) ? 0 : number(0...9)
                rows[group] = rest.prefix(count).joined()
                rest = rest.dropFirst(count)
            }
        }

        /// Draws one operation, or a move, and plays it on the groups' keys.
        func operations(_ rows: inout [String: [String]]) -> [ViewStage.Operation] {
            let group = groups[number(0...3)]
            let present = rows[group]?.count ?? 0
            if chance(3) {
                rows[group] = []
                return [.reset(group)]
            }
            guard present > 0, !chance(30) else { return insert(nil, &rows) }
            let index = number(0...present - 1)
            guard let key = rows[group]?[index] else { return [] }
            if chance(35) { return [.update(key, at: index, in: group, chance(50) ? .object : .metadata)] }
            rows[group]?.remove(at: index)
            let delete = ViewStage.Operation.delete(key, at: index, in: group)
            return chance(50) ? [delete] : [delete] + insert(key, &rows)
        }

        private func insert(_ key: String?, _ rows: inout [String: [String]]) -> [ViewStage.Operation] {
            let used = Set(rows.values.joined())
            let free = Self.keys.filter { !used.contains($0) }
            guard let key = key ?? (free.isEmpty ? nil : free[number(0...free.count - 1)]) else { return [] }
            let group = groups[number(0...3)]
            let index = number(0...(rows[group]?.count ?? 0))
            rows[group, default: []].insert(key, at: index)
            return [.insert(key, at: index, in: group)]
        }
    }

    private func rows(_ stage: ViewStage) -> [String: [String]] {
        stage.groups.mapValues { $0.map(\.key) }
    }

    @Test(arguments: TestSeed.values(count: 20))
    func theListIsThatOfTheGroupsAfterEachBatch(seed: UInt64) {
        let draw = Draw(random: SeededRandomSource(seed: seed))
        for _ in 0..<100 { play(draw) }
    }

    private func play(_ draw: Draw) {
        let drawn = draw.mappings()
        var model = drawn.model
        var stage = ViewStage(drawn.mappings, draw.rows())
        model.update(rows(stage), displaced: nil)
        #expect(stage.keys == model.keys)
        for _ in 0..<draw.number(1...3) {
            var rows = rows(stage)
            let operations = (0..<draw.number(1...8)).flatMap { _ in draw.operations(&rows) }
            _ = stage.play(operations)
            model.update(rows, displaced: stage.displaced)
            #expect(stage.keys == model.keys)
        }
    }
}
