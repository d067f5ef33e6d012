import CloudStore
import System

/// Decides the results of webhook requests. Pure.
struct WebhookSettling {
    static let pauseMillisecondsMax: Double = 3_600_000

    let limits: ServiceLimits
    let nowMilliseconds: Int64
    let random: any RandomSource

    /// Removes accepted deliveries. Others are retried after a pause that doubles, and abandoned after a day.
    /// A webhook that accepted nothing is paused as a whole, so that an unreachable one isn't tried for each
    /// notification.
    func settle(
        _ results: [WebhookResult], webhooks: [WebhookRow], deliveries: [WebhookDeliveryRow]
    ) -> StoreChanges {
        var changes = StoreChanges()
        let byNumber = Dictionary(results.map { ($0.number, $0) }) { $1 }
        for var webhook in webhooks {
            let own = deliveries.filter { $0.webhook == webhook.name }
            var hasDelivered = false
            for var delivery in own {
                guard let result = byNumber[delivery.number] else { continue }
                webhook.lastMilliseconds = nowMilliseconds
                webhook.lastResult = String(result.summary.prefix(200))
                if result.isDelivered {
                    hasDelivered = true
                    webhook.deliveredCount += 1
                    remove(delivery, from: &webhook, &changes)
                    continue
                }
                webhook.failedCount += 1
                delivery.attempts += 1
                delivery.dueMilliseconds =
                    nowMilliseconds + pauseMilliseconds(afterFailures: delivery.attempts)
                guard isOutdated(delivery) else {
                    changes.notifications.deliveries.append(delivery)
                    continue
                }
                webhook.abandonedCount += 1
                remove(delivery, from: &webhook, &changes)
            }
            guard !own.isEmpty else { continue }
            webhook.failuresInRow = hasDelivered ? 0 : webhook.failuresInRow + 1
            webhook.pausedUntilMilliseconds =
                hasDelivered ? 0 : nowMilliseconds + pauseMilliseconds(afterFailures: webhook.failuresInRow)
            changes.notifications.webhooks.append(webhook)
        }
        return changes
    }

    /// Abandons deliveries that failed for a day.
    func abandon(_ deliveries: [WebhookDeliveryRow], webhooks: [WebhookRow]) -> StoreChanges {
        var changes = StoreChanges()
        for var webhook in webhooks {
            let own = deliveries.filter { $0.webhook == webhook.name && isOutdated($0) }
            guard !own.isEmpty else { continue }
            webhook.abandonedCount += Int64(own.count)
            for delivery in own { remove(delivery, from: &webhook, &changes) }
            changes.notifications.webhooks.append(webhook)
        }
        return changes
    }

    private func remove(
        _ delivery: WebhookDeliveryRow, from webhook: inout WebhookRow, _ changes: inout StoreChanges
    ) {
        webhook.waitingCount -= 1
        changes.notifications.removedDeliveries.append(delivery.number)
    }

    private func isOutdated(_ delivery: WebhookDeliveryRow) -> Bool {
        delivery.madeMilliseconds < nowMilliseconds - limits.webhookMilliseconds
    }

    /// Exponential backoff from one second to one hour, with random jitter of up to a half.
    func pauseMilliseconds(afterFailures count: Int64) -> Int64 {
        var pause = 1_000.0
        for _ in 1..<max(1, min(count, 32)) { pause = min(pause * 2, Self.pauseMillisecondsMax) }
        return Int64(pause * (0.5 + random.nextUnitInterval() / 2))
    }
}
