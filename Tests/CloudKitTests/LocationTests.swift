import CoreLocation
import Foundation
import Testing

@Suite struct LocationTests {
    @Test func theDistanceIsThatAlongTheEarth() {
        let berlin = CLLocation(latitude: 52.52, longitude: 13.405)
        let paris = CLLocation(latitude: 48.8566, longitude: 2.3522)
        #expect(abs(berlin.distance(from: paris) - 877_500) < 5_000)
        #expect(berlin.distance(from: berlin) == 0)
        let east = CLLocation(latitude: 0, longitude: 179.9),
            west = CLLocation(latitude: 0, longitude: -179.9)
        #expect(abs(east.distance(from: west) - 22_239) < 200)
    }

    @Test func aLocationSurvivesItsArchive() throws {
        let location = CLLocation(
            coordinate: CLLocationCoordinate2D(latitude: 1.5, longitude: -2), altitude: 3,
            horizontalAccuracy: 4, verticalAccuracy: 5, course: 6, speed: 7,
            timestamp: Date(timeIntervalSinceReferenceDate: 8.25))
        let data = try NSKeyedArchiver.archivedData(withRootObject: location, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: CLLocation.self, from: data) == location)
    }

    @Test func coordinatesOutsideTheEarthAreNotValid() {
        #expect(CLLocationCoordinate2DIsValid(CLLocationCoordinate2D(latitude: 90, longitude: -180)))
        #expect(!CLLocationCoordinate2DIsValid(CLLocationCoordinate2D(latitude: 90.1, longitude: 0)))
        #expect(!CLLocationCoordinate2DIsValid(kCLLocationCoordinate2DInvalid))
    }
}
