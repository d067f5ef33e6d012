package import CloudKit
import Foundation

extension CKError {
    /// Returns an error that was created on this device, with a message.
    package static func saying(_ code: CKError.Code, _ message: String) -> CKError {
        CKError(code, userInfo: [NSLocalizedDescriptionKey: message])
    }

    /// The error as a `CKError`. Another error becomes an internal error with its description.
    init(wrapping error: any Error) {
        self = error as? CKError ?? .saying(.internalError, "\(error)")
    }
}
