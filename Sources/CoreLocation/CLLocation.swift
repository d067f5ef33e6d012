public import Foundation

/// A place with its height, accuracy, course, speed and the time it was measured.
open class CLLocation: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
    // Sendable because every stored property is a constant; a subclass has to restate it.

    /// Where it is.
    public let coordinate: CLLocationCoordinate2D
    /// Metres above sea level.
    public let altitude: CLLocationDistance
    /// Metres around `coordinate` within which the place lies; negative when the coordinate isn't known.
    public let horizontalAccuracy: CLLocationAccuracy
    /// Metres around `altitude`; negative when the altitude isn't known.
    public let verticalAccuracy: CLLocationAccuracy
    /// The direction of travel in degrees; negative when it isn't known.
    public let course: CLLocationDirection
    /// The speed in metres per second; negative when it isn't known.
    public let speed: CLLocationSpeed
    /// When it was measured.
    public let timestamp: Date

    /// Makes a place of which only the coordinate is known, measured now.
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

    /// Makes a place from everything that can be known of it.
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

    /// The distance to `location` in metres along the Earth taken as a sphere: within 0.6 % of the true one.
    open func distance(from location: CLLocation) -> CLLocationDistance {
        let earthRadiusMetres = 6_371_008.8
        let here = coordinate.latitude * .pi / 180
        let there = location.coordinate.latitude * .pi / 180
        let halfLatitude = sin((there - here) / 2)
        let halfLongitude = sin((location.coordinate.longitude - coordinate.longitude) * .pi / 360)
        let haversine = halfLatitude * halfLatitude + cos(here) * cos(there) * halfLongitude * halfLongitude
        return 2 * earthRadiusMetres * asin(min(1, haversine.squareRoot()))
    }

    /// A location never changes, so this is the location itself.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether `object` is a location with the same values.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CLLocation else { return false }
        return other.numbers == numbers && other.timestamp == timestamp
    }

    /// The same for equal locations.
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

    /// Locations can be read from archives that name the classes they expect.
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

    /// Reads a location from a keyed archive; nil when it holds none.
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
