#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A point on the globe, for queries of a `YapDatabaseRTreeIndex` that has latitudes and longitudes.
public struct YapDatabaseGlobePoint: Hashable, Sendable {
    /// Mean radius of the earth in metres. Distances are on a sphere of this radius: up to 0.6 % off.
    public static let radiusMetres = 6_371_008.8

    /// Degrees north of the equator, from -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich, from -180 to 180.
    public var longitude: Double

    /// Creates a point.
    ///
    /// - Parameters:
    ///   - latitude: Degrees north of the equator, from -90 to 90.
    ///   - longitude: Degrees east of Greenwich, from -180 to 180.
    public init(latitude: Double, longitude: Double) {
        (self.latitude, self.longitude) = (latitude, longitude)
    }

    /// Returns the distance to another point along the surface, in metres.
    public func metres(to other: Self) -> Double {
        let sine = { (degrees: Double) in sin(Self.radians(degrees) / 2) }
        let (north, east) = (sine(other.latitude - latitude), sine(other.longitude - longitude))
        let part =
            north * north + cos(Self.radians(latitude)) * cos(Self.radians(other.latitude)) * east * east
        return 2 * Self.radiusMetres * asin(min(1, part.squareRoot()))
    }

    /// True if the point is on the globe.
    var isValid: Bool { (-90...90).contains(latitude) && (-180...180).contains(longitude) }

    private static func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
    private static func degrees(_ radians: Double) -> Double { radians * 180 / .pi }
}

/// A part of the globe between two parallels and two meridians, in degrees. It doesn't cross the 180th meridian.
struct GlobeBox {
    let latitude: ClosedRange<Double>
    let longitude: ClosedRange<Double>
}

extension YapDatabaseGlobePoint {
    /// Returns one or two boxes that contain all points within a distance. Two if they meet at the 180th meridian.
    ///
    /// - Parameter metres: The distance, at least 0.
    func boxes(within metres: Double) -> [GlobeBox] {
        // Covers the rounding.
        let angle = metres / Self.radiusMetres * (1 + 1e-9) + 1e-9
        let (south, north) = (latitude - Self.degrees(angle), latitude + Self.degrees(angle))
        guard south > -90, north < 90 else {
            // It contains a pole, and so each meridian.
            return [GlobeBox(latitude: max(south, -90)...min(north, 90), longitude: -180...180)]
        }
        let reach = Self.degrees(asin(min(1, sin(angle) / cos(Self.radians(latitude))))) + 1e-9
        let (west, east) = (longitude - reach, longitude + reach)
        if west >= -180, east <= 180 { return [GlobeBox(latitude: south...north, longitude: west...east)] }
        let (first, last) = west < -180 ? (west + 360, east) : (west, east - 360)
        return [
            GlobeBox(latitude: south...north, longitude: first...180),
            GlobeBox(latitude: south...north, longitude: -180...last),
        ]
    }
}
