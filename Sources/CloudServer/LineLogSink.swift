/// A log whose lines go to a closure, one at a time: for a program that embeds the server and has a logger of its own.
///
/// ```swift
/// var options = CloudServerOptions()
/// options.log = LineLogSink { line in
///     logger.info("\(line)")
/// }
/// let server = CloudServer(service, options: options)
/// ```
///
/// To take all pending lines in one call instead, implement `LogSink`.
public struct LineLogSink: LogSink {
    private let handle: @Sendable (String) -> Void

    /// Creates a log that calls `handle` for each line, in order.
    ///
    /// - Parameter handle: receives a JSON object without a line break. It runs on the log's own thread and
    ///   may block. Lines are queued meanwhile, up to `CloudServerOptions.logLinesMax`.
    public init(_ handle: @escaping @Sendable (String) -> Void) {
        self.handle = handle
    }

    /// Calls the closure for each of the lines.
    public func write(_ lines: [UInt8]) {
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            handle(String(decoding: line, as: UTF8.self))
        }
    }
}
