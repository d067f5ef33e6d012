/// What can go wrong in a run. Each seed enables some of them.
package enum Fault: String, CaseIterable, Codable, Comparable, Sendable {
    // Of a request.

    /// It never reaches the service; the device is told, or its time runs out.
    case lostRequest
    /// The service carried it out, and the answer never arrives.
    case lostReply
    /// The service gets it twice, the second time later, perhaps after other requests.
    case duplicatedRequest
    /// It is on its way for so long that others overtake it, or that its time runs out.
    case lateRequest
    /// The answer is on its way for so long.
    case lateReply
    /// The service asks to come again later.
    case busyService
    /// The device's process ends after the service got the request and before the answer arrives.
    case deathInFlight
    /// The person edits while the request is under way.
    case editInFlight
    /// The answer comes after another device has edited and synced, and this one has fetched.
    case overtakenReply
    /// Another device saves the same records before an upload arrives, and again before its answer, which comes after
    /// this device has fetched: the answer holds a version that is no longer the server's.
    case overtakenConflict
    /// A wait for pushes is cut, and the push with it.
    case lostPush
    /// A push comes late.
    case latePush
    /// A push comes again.
    case repeatedPush

    // Of a device.

    /// Its process ends in an orderly way, and the next begins.
    case deviceRestart
    /// Its process is killed at one of its next writes.
    case deviceKill
    /// Its power goes at one of its next writes.
    case devicePowerLoss
    /// Its process gets no time for a while.
    case stall
    /// It has no network for a while.
    case partition
    /// Its disk is full for a while.
    case diskFull
    /// Its disk's syncs fail for a while.
    case failingSyncs
    /// Its clock is set.
    case clockStep
    /// The app's next version is installed.
    case upgrade
    /// An earlier version of the app is installed.
    case downgrade
    /// The app goes into the background, and comes back.
    case background
    /// Another process on the device edits the same file.
    case otherProcess
    /// Another user signs in.
    case accountSwitch

    // Of the service.

    /// Its process ends, and the next opens the file.
    case serviceRestart
    /// It is killed at one of its next writes.
    case serviceKill
    /// Its power goes at one of its next writes.
    case servicePowerLoss
    /// Its disk is full for a while.
    case serviceDiskFull
    /// It asks everybody to come again later, for a while.
    case throttling
    /// It forgets its tombstones: a device that was away for longer fetches everything again.
    case expiredTokens
    /// A zone gets another epoch, as after it was restored: its tokens start again.
    case resetZone
    /// A zone is deleted.
    case deletedZone
    /// It is put back to an earlier backup: what it acknowledged since is lost there.
    case restoredBackup

    package static func < (left: Fault, right: Fault) -> Bool { left.rawValue < right.rawValue }

    /// Those that a request can meet.
    static let ofRequests: [Fault] = [
        .lostRequest, .lostReply, .duplicatedRequest, .lateRequest, .lateReply, .busyService, .deathInFlight,
        .editInFlight, .overtakenReply, .overtakenConflict,
    ]
    /// Those that only an upload can meet, and in which a person edits.
    static let ofUploads: Set<Fault> = [.editInFlight, .overtakenReply, .overtakenConflict]
    static let ofPushes: [Fault] = [.lostPush, .latePush, .repeatedPush]
    /// Those that are steps of a device.
    static let ofDevices: [Fault] = [
        .deviceRestart, .deviceKill, .devicePowerLoss, .stall, .partition, .diskFull, .failingSyncs,
        .clockStep, .upgrade, .downgrade, .background, .otherProcess, .accountSwitch,
    ]
    /// Those that are steps of the service.
    static let ofServices: [Fault] = [
        .serviceRestart, .serviceKill, .servicePowerLoss, .serviceDiskFull, .throttling, .expiredTokens,
        .resetZone, .deletedZone, .restoredBackup,
    ]
    /// Those after which the server has lost what it acknowledged. An app that fetches by itself can't know what that
    /// was; `CloudSync` sends it again.
    static let ofLostZones: Set<Fault> = [.deletedZone, .restoredBackup]
}
