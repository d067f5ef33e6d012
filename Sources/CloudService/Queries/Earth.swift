import CloudWire
import Glibc

/// A place on the earth. The earth is taken as a sphere.
struct Place: Hashable, Sendable {
    /// Degrees, -90 to 90.
    let latitude: Double
    /// Degrees, -180 to 180.
    let longitude: Double

    static let earthRadiusMetres = 6_371_008.8

    init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Returns nil for coordinates outside the earth's limits.
    init?(_ location: Location) {
        guard -90...90 ~= location.latitude, -180...180 ~= location.longitude else { return nil }
        self.init(latitude: location.latitude, longitude: location.longitude)
    }

    /// Returns the distance to `other` in metres.
    func distance(to other: Place) -> Double {
        let here = latitude * .pi / 180
        let there = other.latitude * .pi / 180
        let halfLatitude = sin((there - here) / 2)
        let halfLongitude = sin((other.longitude - longitude) * .pi / 360)
        let haversine = halfLatitude * halfLatitude + cos(here) * cos(there) * halfLongitude * halfLongitude
        return 2 * Self.earthRadiusMetres * asin(min(1, haversine.squareRoot()))
    }
}

/// A rectangle of latitudes and longitudes, made by halving the earth repeatedly. It corresponds to one range
/// of bytes in a location index.
struct EarthCell: Sendable {
    /// The interleaved bits of longitude and latitude, longitude first. The top `bitCount` bits are used.
    let code: UInt64
    let bitCount: Int
    private var sides = (south: -90.0, north: 90.0, west: -180.0, east: 180.0)

    /// The whole earth.
    static let whole = EarthCell(code: 0, bitCount: 0)

    static let bitCountMax = 64

    init(code: UInt64, bitCount: Int) {
        self.code = code
        self.bitCount = bitCount
    }

    /// The smallest cell that contains `place`.
    init(_ place: Place) {
        var code: UInt64 = 0
        let x = Self.part(place.longitude + 180, of: 360)
        let y = Self.part(place.latitude + 90, of: 180)
        for bit in (0..<32).reversed() {
            code = code << 2 | UInt64(x >> UInt32(bit) & 1) << 1 | UInt64(y >> UInt32(bit) & 1)
        }
        self.init(code: code, bitCount: Self.bitCountMax)
    }

    private static func part(_ value: Double, of all: Double) -> UInt32 {
        UInt32(min(max(value / all, 0) * 0x1p32, 0x1p32 - 1))
    }

    /// The two halves of the cell. Empty for the smallest cell.
    var halves: [EarthCell] {
        guard bitCount < Self.bitCountMax else { return [] }
        var lower = EarthCell(code: code, bitCount: bitCount + 1)
        var upper = EarthCell(code: code | 1 << UInt64(63 - bitCount), bitCount: bitCount + 1)
        lower.sides = sides
        upper.sides = sides
        if bitCount.isMultiple(of: 2) {
            let middle = (sides.west + sides.east) / 2
            lower.sides.east = middle
            upper.sides.west = middle
        } else {
            let middle = (sides.south + sides.north) / 2
            lower.sides.north = middle
            upper.sides.south = middle
        }
        return [lower, upper]
    }

    /// The range of the cell's places in a location index.
    var range: ByteRange {
        let last = bitCount == 0 ? UInt64.max : code | (bitCount == 64 ? 0 : UInt64.max >> UInt64(bitCount))
        return ByteRange(
            lower: OrderedBytes.bigEndian(code),
            upper: last == .max ? nil : OrderedBytes.bigEndian(last + 1))
    }

    /// Returns a lower bound for the distance in metres from `place` to any place in the cell. Slightly less than
    /// the exact minimum.
    func distanceMin(to place: Place) -> Double {
        let (south, north, west, east) = sides
        let toParallel = max(0, max(south - place.latitude, place.latitude - north)) * .pi / 180
        var toMeridian = 0.0
        if place.longitude < west || place.longitude > east {
            let apart = min(Self.apart(place.longitude, west), Self.apart(place.longitude, east))
            // The great circle to a meridian. If the meridian is more than a right angle away, its nearest
            // point is the pole.
            toMeridian =
                apart < 90
                ? asin(cos(place.latitude * .pi / 180) * sin(apart * .pi / 180))
                : (90 - abs(place.latitude)) * .pi / 180
        }
        return max(0, max(toParallel, toMeridian) * Place.earthRadiusMetres * (1 - 1e-9) - 0.01)
    }

    /// Returns an upper bound for the distance in metres from `place` to any place in the cell. Slightly more than
    /// the exact maximum.
    func distanceMax(to place: Place) -> Double {
        let (south, north, west, east) = sides
        let middle = Place(latitude: (south + north) / 2, longitude: (west + east) / 2)
        let reach = ((north - south) / 2 + (east - west) / 2) * .pi / 180 * Place.earthRadiusMetres
        return (place.distance(to: middle) + reach) * (1 + 1e-9) + 0.01
    }

    private static func apart(_ left: Double, _ right: Double) -> Double {
        let apart = abs(left - right)
        return min(apart, 360 - apart)
    }

    /// Up to `cellsMax` cells that contain all places whose distance from `place` is between `inner` and
    /// `outer` metres.
    static func covering(
        _ place: Place, inner: Double = 0, outer: Double, cellsMax: Int = 24
    ) -> [ByteRange] {
        var cells = [whole]
        while true {
            // Halving the whole list keeps it in order, and all cells at one size.
            let halves = cells.flatMap(\.halves).filter { cell in
                cell.distanceMin(to: place) <= outer && cell.distanceMax(to: place) >= inner
            }
            guard !halves.isEmpty else {
                return cells[0].bitCount == bitCountMax ? cells.map(\.range).merged() : []
            }
            guard halves.count <= cellsMax else { return cells.map(\.range).merged() }
            cells = halves
        }
    }

    // MARK: - Entries

    /// Returns the index bytes of `place`. They also encode its exact coordinates.
    static func bytes(of place: Place) -> [UInt8] {
        OrderedBytes.bigEndian(EarthCell(place).code) + OrderedBytes.bigEndian(place.latitude.bitPattern)
            + OrderedBytes.bigEndian(place.longitude.bitPattern)
    }

    /// Returns the place that the index bytes encode.
    static func place(in bytes: [UInt8]) -> Place? {
        guard bytes.count == 24 else { return nil }
        return Place(
            latitude: Double(bitPattern: OrderedBytes.unsigned(bytes[8..<16])),
            longitude: Double(bitPattern: OrderedBytes.unsigned(bytes[16..<24])))
    }
}
