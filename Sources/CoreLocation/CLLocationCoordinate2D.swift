// The global names are Apple's.
// swift-format-ignore-file: AlwaysUseLowerCamelCase

/// An angle in degrees.
public typealias CLLocationDegrees = Double
/// A length in metres.
public typealias CLLocationDistance = Double
/// A radius in metres. Negative if unknown.
public typealias CLLocationAccuracy = Double
/// A speed in metres per second. Negative if unknown.
public typealias CLLocationSpeed = Double
/// A direction in degrees, clockwise from true north. Negative if unknown.
public typealias CLLocationDirection = Double

/// A point on the Earth: latitude and longitude in degrees (WGS 84).
public struct CLLocationCoordinate2D: Sendable {
    /// Degrees north of the equator, -90...90.
    public var latitude: CLLocationDegrees
    /// Degrees east of Greenwich, -180...180.
    public var longitude: CLLocationDegrees

    /// The point at latitude 0 and longitude 0.
    public init() {
        self.init(latitude: 0, longitude: 0)
    }

    /// Makes the point at `latitude` and `longitude`, in degrees.
    public init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.latitude = latitude
        self.longitude = longitude
    }
}

/// An invalid coordinate, which Core Location uses for "unknown".
public let kCLLocationCoordinate2DInvalid = CLLocationCoordinate2D(latitude: -180, longitude: -180)

/// Returns true if `coordinate` is within -90...90 and -180...180 degrees.
public func CLLocationCoordinate2DIsValid(_ coordinate: CLLocationCoordinate2D) -> Bool {
    (-90...90).contains(coordinate.latitude) && (-180...180).contains(coordinate.longitude)
}
