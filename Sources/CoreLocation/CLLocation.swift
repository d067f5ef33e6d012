public import Foundation

/// A place with its height, accuracy, course, speed and the time it was measured.
open class CLLocation: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because every stored property is a constant; a subclass has to restate it.

    /// Coordinate of the place.
    public let coordinate: CLLocationCoordinate2D
    /// Height in metres above sea level.
    public let altitude: CLLocationDistance
    /// Radius in metres around `coordinate` that contains the place. Negative if the coordinate is unknown.
    public let horizontalAccuracy: CLLocationAccuracy
    /// Accuracy of `altitude` in metres. Negative if the altitude is unknown.
    public let verticalAccuracy: CLLocationAccuracy
    /// Direction of travel in degrees. Negative if unknown.
    public let course: CLLocationDirection
    /// Speed in metres per second. Negative if unknown.
    public let speed: CLLocationSpeed
    /// Time of the measurement.
    public let timestamp: Date

    /// Makes a place with a coordinate only, measured now.
    public convenience init(latitude: CLLocationDegrees, longitude: CLLocationDegrees) {
        self.init(
            coordinate: CLLocationCoordinate2D(latitude: latitude, longitude: longitude), altitude: 0,
            horizontalAccuracy: 0, verticalAccuracy: -1, timestamp: Date())
    }

    /// Makes a place without course and speed.
    public convenience init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy, timestamp: Date
    ) {
        self.init(
            coordinate: coordinate, altitude: altitude, horizontalAccuracy: horizontalAccuracy,
            verticalAccuracy: verticalAccuracy, course: -1, speed: -1, timestamp: timestamp)
    }

    /// Makes a place with all properties.
    public init(
        coordinate: CLLocationCoordinate2D, altitude: CLLocationDistance,
        horizontalAccuracy: CLLocationAccuracy, verticalAccuracy: CLLocationAccuracy,
        course: CLLocationDirection, speed: CLLocationSpeed, timestamp: Date
    ) {
        self.coordinate = coordinate
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }

    /// Returns the distance to `location` in metres, on a spherical Earth. The error is up to 0.6 %.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        let earthRadiusMetres = 6_371_008.8
        let here = coordinate.latitude * .pi / 180
        let there = location.coordinate.latitude * .pi / 180
        let halfLatitude = sin((there - here) / 2)
        let halfLongitude = sin((location.coordinate.longitude - coordinate.longitude) * .pi / 360)
        let haversine = halfLatitude * halfLatitude + cos(here) * cos(there) * halfLongitude * halfLongitude
        return 2 * earthRadiusMetres * asin(min(1, haversine.squareRoot()))
    }

    /// Returns the location itself, because a location never changes.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Returns true if `object` is a location with the same values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocation else { return false }
        return other.numbers == numbers && other.timestamp == timestamp
    }

    /// Hash value. Equal for equal locations.
    open override var hash: Int { numbers.hashValue }

    private var numbers: [Double] {
        [
            coordinate.latitude, coordinate.longitude, altitude, horizontalAccuracy, verticalAccuracy, course,
            speed,
        ]
    }

    // MARK: Archives

    private enum Key {
        static let latitude = "kCLLocationCodingKeyCoordinateLatitude"
        static let longitude = "kCLLocationCodingKeyCoordinateLongitude"
        static let altitude = "kCLLocationCodingKeyAltitude"
        static let horizontalAccuracy = "kCLLocationCodingKeyHorizontalAccuracy"
        static let verticalAccuracy = "kCLLocationCodingKeyVerticalAccuracy"
        static let course = "kCLLocationCodingKeyCourse"
        static let speed = "kCLLocationCodingKeySpeed"
        static let timestamp = "kCLLocationCodingKeyTimestamp"
    }

    /// True: locations can be read from archives with secure coding.
    public class var supportsSecureCoding: Bool { true }

    /// Writes the location to a keyed archive.
    open func encode(with coder: NSCoder) {
        coder.encode(coordinate.latitude, forKey: Key.latitude)
        coder.encode(coordinate.longitude, forKey: Key.longitude)
        coder.encode(altitude, forKey: Key.altitude)
        coder.encode(horizontalAccuracy, forKey: Key.horizontalAccuracy)
        coder.encode(verticalAccuracy, forKey: Key.verticalAccuracy)
        coder.encode(course, forKey: Key.course)
        coder.encode(speed, forKey: Key.speed)
        coder.encode(timestamp.timeIntervalSinceReferenceDate, forKey: Key.timestamp)
    }

    /// Reads a location from a keyed archive. Returns nil if the archive doesn't contain one.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: Key.latitude), coder.containsValue(forKey: Key.longitude) else {
            return nil
        }
        coordinate = CLLocationCoordinate2D(
            latitude: coder.decodeDouble(forKey: Key.latitude),
            longitude: coder.decodeDouble(forKey: Key.longitude))
        altitude = coder.decodeDouble(forKey: Key.altitude)
        horizontalAccuracy = coder.decodeDouble(forKey: Key.horizontalAccuracy)
        verticalAccuracy = coder.decodeDouble(forKey: Key.verticalAccuracy)
        course = coder.decodeDouble(forKey: Key.course)
        speed = coder.decodeDouble(forKey: Key.speed)
        timestamp = Date(timeIntervalSinceReferenceDate: coder.decodeDouble(forKey: Key.timestamp))
    }
}
