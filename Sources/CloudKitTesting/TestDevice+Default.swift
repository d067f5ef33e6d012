import CloudKit

extension TestDevice {
    /// Runs `body` as the app on this device: `CKContainer.default()` is `container`, and `CKContainer(identifier:)`
    /// a container of the same cloud. So code that names its container itself is tested unchanged.
    ///
    /// It holds for `body`, and for tasks that it makes, but not for what other threads run: for these there is
    /// `makeDefault()`. With `Execution.inline` the blocks of operations run in `body`.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    public func asDefault<R>(_ body: () throws -> R) rethrows -> R {
        try CKContainer.$substitute.withValue(container, operation: body)
    }

    /// Runs `body` as the app on this device; the async form.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    public func asDefault<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await CKContainer.$substitute.withValue(container, operation: body, isolation: isolation)
    }

    /// Makes `container` the process's `CKContainer.default()`, until another device's is. For tests that run one at
    /// a time, as those of XCTest do.
    public func makeDefault() {
        CKContainer.substituteForAll = container
    }
}
