/// What a device shows of a notification: the part of it that belongs to the device's push service.
package struct PushAlert: Hashable, Sendable {
    /// The texts of the alert.
    package var texts: Texts?
    /// The number on the app's badge.
    package var badge: Int64?
    /// The sound to play.
    package var sound: String?
    /// The name of the alert's actions.
    package var category: String?
    /// 1 when the app is to be woken.
    package var contentAvailable: Int64?
    /// 1 when an extension of the app may change the alert.
    package var mutableContent: Int64?
    /// Unknown keys, kept as received.
    package var unknown: [String: JSONValue] = [:]

    /// Makes one that shows nothing.
    package init() {}

    /// Makes what a subscription wants to be shown.
    ///
    /// Values of records in the texts, badges and collapse keys are not made.
    package init(_ info: WireNotificationInfo) {
        var texts = Texts()
        texts.body = info.alertBody
        texts.bodyKey = info.alertLocalizationKey
        texts.title = info.title
        texts.titleKey = info.titleLocalizationKey
        texts.subtitle = info.subtitle
        texts.subtitleKey = info.subtitleLocalizationKey
        texts.actionKey = info.alertActionLocalizationKey
        texts.launchImage = info.alertLaunchImage
        self.texts = texts == Texts() ? nil : texts
        sound = info.soundName
        category = info.category
        contentAvailable = info.shouldSendContentAvailable == true ? 1 : nil
        mutableContent = info.shouldSendMutableContent == true ? 1 : nil
    }

    /// The texts of an alert.
    package struct Texts: Hashable, Sendable {
        /// True if the alert was a text and no object: then it is the body.
        package var isBareText = false
        /// The alert's text.
        package var body: String?
        /// The key of the text in the app's strings.
        package var bodyKey: String?
        /// What fills the text.
        package var bodyArguments: [String]?
        /// The title.
        package var title: String?
        /// The key of the title in the app's strings.
        package var titleKey: String?
        /// What fills the title.
        package var titleArguments: [String]?
        /// The second title.
        package var subtitle: String?
        /// The key of the second title in the app's strings.
        package var subtitleKey: String?
        /// What fills the second title.
        package var subtitleArguments: [String]?
        /// The key of the button's text in the app's strings.
        package var actionKey: String?
        /// The picture the app starts with.
        package var launchImage: String?
        /// Unknown keys, kept as received.
        package var unknown: [String: JSONValue] = [:]

        /// Makes none.
        package init() {}
    }
}

extension PushAlert: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case _ where value.isNull: try unknown.keep(member)
            case "alert": texts = try Texts(reading: value)
            case "badge": badge = try value.int64()
            case "sound" where value.kind == .string: sound = try value.string()
            case "category": category = try value.string()
            case "content-available": contentAvailable = try value.int64()
            case "mutable-content": mutableContent = try value.int64()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("alert", texts)
            writer.member("badge", badge)
            writer.member("sound", sound)
            writer.member("category", category)
            writer.member("content-available", contentAvailable)
            writer.member("mutable-content", mutableContent)
            writer.members(unknown)
        }
    }
}

extension PushAlert.Texts: JSONCodable {
    init(reading node: JSONNode) throws(JSONError) {
        self.init()
        guard node.kind != .string else {
            isBareText = true
            body = try node.string()
            return
        }
        for member in try node.members() {
            let value = member.value
            switch member.key {
            case _ where value.isNull: try unknown.keep(member)
            case "body": body = try value.string()
            case "loc-key": bodyKey = try value.string()
            case "loc-args": bodyArguments = try value.strings()
            case "title": title = try value.string()
            case "title-loc-key": titleKey = try value.string()
            case "title-loc-args": titleArguments = try value.strings()
            case "subtitle": subtitle = try value.string()
            case "subtitle-loc-key": subtitleKey = try value.string()
            case "subtitle-loc-args": subtitleArguments = try value.strings()
            case "action-loc-key": actionKey = try value.string()
            case "launch-image": launchImage = try value.string()
            default: try unknown.keep(member)
            }
        }
    }

    func write(to writer: inout JSONWriter) {
        if isBareText, let body { return writer.value(body) }
        writer.object { writer in
            writer.member("body", body)
            writer.member("loc-key", bodyKey)
            writer.member("loc-args", bodyArguments)
            writer.member("title", title)
            writer.member("title-loc-key", titleKey)
            writer.member("title-loc-args", titleArguments)
            writer.member("subtitle", subtitle)
            writer.member("subtitle-loc-key", subtitleKey)
            writer.member("subtitle-loc-args", subtitleArguments)
            writer.member("action-loc-key", actionKey)
            writer.member("launch-image", launchImage)
            writer.members(unknown)
        }
    }
}
