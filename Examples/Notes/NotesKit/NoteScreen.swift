public import Foundation

/// What a person sees.
public struct NoteScreen: Hashable, Sendable {
    /// Whether there is a cloud.
    public enum Availability: Hashable, Sendable {
        /// Nobody asked yet.
        case unknown
        /// The user is signed in.
        case available
        /// Nobody is signed in.
        case noAccount
        /// The account may not be used, for now or at all.
        case restricted
        /// There is no network, or no answer.
        case offline
    }

    /// How far the note is on its way.
    public enum Sync: Hashable, Sendable {
        /// This device has what the cloud has, as far as it was told.
        case synced
        /// There are changes here that the cloud doesn't have.
        case unsent
        /// It is under way.
        case syncing
        /// It is tried again after so many seconds.
        case waiting(seconds: Double)
        /// The cloud has a note of a newer app. What is written here stays here until this one is updated.
        case newerVersionAvailable
        /// It didn't work, for this reason, and isn't tried again by itself.
        case failed(String)
    }

    /// The text.
    public var text = ""
    /// When a person changed it.
    public var modified: Date?
    /// Whether there is a cloud.
    public var availability = Availability.unknown
    /// How far the note is on its way.
    public var sync = Sync.synced

    /// Availability and status, in words.
    public var words: String {
        let there =
            switch availability {
            case .unknown: "cloud: unknown"
            case .available: "cloud: signed in"
            case .noAccount: "cloud: sign in to have the note on your other devices"
            case .restricted: "cloud: not allowed for this account"
            case .offline: "cloud: no connection, the note is kept here"
            }
        return "\(there); \(syncWords)"
    }

    private var syncWords: String {
        switch sync {
        case .synced: "all is saved"
        case .unsent: "changes wait to be sent"
        case .syncing: "syncing"
        case .waiting(let seconds): "next try in \(Int(seconds.rounded(.up))) s"
        case .newerVersionAvailable: "a newer version of this app wrote the note: update to see and send it"
        case .failed(let reason): "not synced: \(reason)"
        }
    }
}
