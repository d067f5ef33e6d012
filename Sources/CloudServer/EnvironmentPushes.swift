import CloudService
import CloudWire

/// A push that waits for a device.
struct TakenPush: Sendable {
    let notificationID: String
    /// The notification as JSON.
    let payload: [UInt8]
}

/// What the store says when it is asked for a device's push.
enum PushAnswer: Sendable {
    case nothing
    case push(TakenPush)
    case failed(WireError)
}

extension OpenEnvironment {
    /// Looks for a push, after deleting the one that the device has got (`after`). The answer comes on a thread of the
    /// service.
    func takePush(apnsToken: String, after: String?, _ completion: @escaping @Sendable (PushAnswer) -> Void) {
        completion(.failed(Refusal.badRequest("no pushes yet")))
    }

    /// Deletes a push that the device has got.
    func acknowledgePush(apnsToken: String, notificationID: String) {}
}
