package import CloudKit
import Foundation

extension CKError {
    /// An error of this side, in words.
    package static func saying(_ code: CKError.Code, _ message: String) -> CKError {
        CKError(code, userInfo: [NSLocalizedDescriptionKey: message])
    }

    /// The error as CloudKit's; one of another kind is an internal error that carries its words.
    init(wrapping error: any Error) {
        self = error as? CKError ?? .saying(.internalError, "\(error)")
    }
}
