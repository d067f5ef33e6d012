import CloudKit

extension TestDevice {
    /// Runs `body` as the app on this device: `CKContainer.default()` is `container`, and `CKContainer(identifier:)`
    /// returns a container of the same cloud. So code that names its container is tested unchanged.
    ///
    /// This applies to `body` and to tasks that it creates, but not to other threads; use `makeDefault()` for these.
    /// With `Execution.inline`, the blocks of operations run in `body`.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    public func asDefault<R>(_ body: () throws -> R) rethrows -> R {
        try CKContainer.$substitute.withValue(container, operation: body)
    }

    /// Runs `body` as the app on this device; the async form.
    /// - Returns: the result of `body`.
    /// - Throws: the error of `body`.
    public func asDefault<R>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> R
    ) async rethrows -> R {
        try await CKContainer.$substitute.withValue(container, operation: body, isolation: isolation)
    }

    /// Makes `container` the `CKContainer.default()` of the process, until another device calls this. For tests that
    /// run one at a time, as XCTest's do.
    public func makeDefault() {
        CKContainer.substituteForAll = container
    }
}
