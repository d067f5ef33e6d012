import System

@testable import CloudServer

extension ThreadOwner {
    /// Starts the threads of an object that is no part of a server.
    func started() throws -> Self {
        try ThreadStart.all { try start($0) }
        return self
    }
}
