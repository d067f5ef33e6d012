import System
import Testing

@testable import CloudService

@Suite struct EarthTests {
    /// The cells that are looked through for a circle or a ring hold every place in it, also over a pole and beside the
    /// 180th meridian.
    @Test func theCellsOfARingHoldEveryPlaceInIt() {
        let seed: UInt64 = 20_261
        let random = SeededRandomSource(seed: seed)
        func place(_ corner: Int) -> Place {
            let unit = { random.nextUnitInterval() }
            switch corner {
            case 0: return Place(latitude: unit() * 180 - 90, longitude: unit() * 360 - 180)
            case 1: return Place(latitude: 89 + unit(), longitude: unit() * 360 - 180)
            case 2:
                return Place(
                    latitude: unit() - 0.5, longitude: unit() < 0.5 ? 180 - unit() / 10 : unit() / 10 - 180)
            default: return Place(latitude: 52 + unit() / 10, longitude: 13 + unit() / 10)
            }
        }
        for turn in 0..<2_000 {
            let (from, to) = (place(turn % 4), place(random.next(in: 0..<4)))
            let metres = from.distance(to: to)
            let cells = EarthCell.covering(
                from, inner: metres * random.nextUnitInterval(),
                outer: metres * (1 + random.nextUnitInterval()))
            #expect(cells.haveRange(of: EarthCell.bytes(of: to)), "seed \(seed), \(from) to \(to)")
            #expect(cells.count <= 24)
        }
    }

    @Test func aSmallCircleIsAFewSmallCells() {
        let berlin = Place(latitude: 52.52, longitude: 13.405)
        let cells = EarthCell.covering(berlin, outer: 1_000)
        #expect(!cells.haveRange(of: EarthCell.bytes(of: Place(latitude: 52.6, longitude: 13.405))))
        #expect(!cells.haveRange(of: EarthCell.bytes(of: Place(latitude: 52.52, longitude: 13.5))))
    }
}
