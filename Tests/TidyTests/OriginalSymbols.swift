/// The symbols of the originals, in their Objective-C spelling, or in Swift's where they are Swift's.
enum OriginalSymbols {
    /// Those of the pages of YapDatabaseCloudKit (its guide, its transaction's header, and the merge info's), without
    /// the samples' own names.
    static let yapDatabaseCloudKit = words(
        """
        CKAsset CKContainer CKDatabase CKErrorNetworkFailure CKErrorNetworkUnavailable CKErrorPartialFailure
        CKErrorQuotaExceeded CKErrorZoneBusy CKFetchRecordChangesOperation CKModifyRecordsOperation CKOwnerDefaultName
        CKRecord CKRecordID CKRecordZone CKRecordZoneID CKReference CKServerChangeToken CKSubscription MyDatabaseObject
        MyTodo YDBCKMergeInfo YDBCKRecordInfo YapCollectionKey YapDatabase YapDatabaseCloudKit
        YapDatabaseCloudKitDatabaseIdentifierBlock YapDatabaseCloudKitMergeBlock
        YapDatabaseCloudKitOperationErrorBlock YapDatabaseCloudKitRecordHandler YapDatabaseCloudKitTransaction
        YapDatabaseExtensionTransaction YapDatabasePostSanitizer YapDatabasePreSanitizer YapDatabaseReadTransaction
        YapDatabaseReadWriteTransaction
        addOperation: allCloudProperties allKeys asyncReadWriteWithBlock: asyncReadWriteWithBlock:completionBlock:
        asyncRegisterExtension:withName:completionBlock:
        attachRecord:databaseIdentifier:forKey:inCollection:shouldUploadRecord: changedCloudProperties changedKeys
        changedProperties clearChangedProperties cloudValueForCloudKey: collectionKeysForRecordID:databaseIdentifier:
        containsRecordID:databaseIdentifier: copy databaseIdentifier defaultContainer
        detachRecordForKey:inCollection:wasRemoteDeletion:shouldUploadDeletion: encodeSystemFieldsWithCoder:
        enumerateKeysAndObjectsInCollection:withBlock: ext: fetchRecordChangesCompletionBlock
        fetchRecordChangesWithCompletionHandler: getKey:collection:forRecordID:databaseIdentifier:
        getRecordChangeTag:hasPendingModifications:hasPendingDelete:forRecordID:databaseIdentifier:
        getRecordID:databaseIdentifier:forKey:inCollection: hasChangedCloudProperties inOutRecordPtr
        initWithPath:serializer:deserializer:preSanitizer:postSanitizer:options:
        initWithRecordHandler:mergeBlock:operationErrorBlock:versionTag:versionInfo:options:
        initWithRecordZoneID:previousServerChangeToken: isImmutable keysToRestore makeImmutable
        mappings_localKeyToCloudKey mergeRecord:databaseIdentifier: modifyRecordZonesCompletionBlock moreComing
        objectForKey:inCollection: operationErrorBlock options originalCloudValues originalValues ownerCount
        pendingLocalRecord privateCloudDatabase publicCloudDatabase readWithBlock: recordChangeTag recordChangedBlock
        recordForKey:inCollection: recordForRecordID:databaseIdentifier: recordType recordWithIDWasDeletedBlock
        removeObjectForKey:inCollection: resume saveRecord:databaseIdentifier:
        setLocalValueFromCloudValue:forCloudKey: setObject:forKey:inCollection: suspend suspend: suspendCount
        updatedPendingLocalRecord versionInfo versionTag withObjectBlock:
        """)

    /// Those of the headers of YapDatabase's core and of its other extensions, without deprecated ones.
    static let yapDatabase = words(
        """
        YDBCloudCorePipelineActiveStatusChangedNotification YDBCloudCorePipelineAlgorithm
        YDBCloudCorePipelineQueueChangedNotification YDBCloudCorePipelineSuspendCountChangedNotification
        YDBHooks_DidModifyRow YDBHooks_DidRemoveAllRows YDBHooks_DidRemoveRow YDBHooks_WillModifyRow
        YDBHooks_WillRemoveAllRows YDBHooks_WillRemoveRow YDBLogMessage YDB_DeleteDestinationIfAllSourcesDeleted
        YDB_DeleteDestinationIfSourceDeleted YDB_DeleteSourceIfAllDestinationsDeleted
        YDB_DeleteSourceIfDestinationDeleted YDB_DestinationNodeDeleted YDB_EdgeDeleted YDB_NodeDeleteRules
        YDB_NotifyIfDestinationDeleted YDB_NotifyIfSourceDeleted YDB_NotifyReason YDB_SourceNodeDeleted
        YapActionItem YapActionItemBlock YapActionScheduler YapActionable YapCollectionKey YapDatabase
        YapDatabaseActionManager YapDatabaseAllKeysRemovedKey YapDatabaseAutoView YapDatabaseAutoViewTransaction
        YapDatabaseBlockInvoke YapDatabaseBlockType YapDatabaseCipherCompatability YapDatabaseCipherKeyBlock
        YapDatabaseClosedNotification YapDatabaseCloudCore YapDatabaseCloudCoreGraph YapDatabaseCloudCoreOperation
        YapDatabaseCloudCoreOptions YapDatabaseCloudCorePipeline YapDatabaseCloudCorePipelineDelegate
        YapDatabaseCloudCoreTransaction YapDatabaseConnection YapDatabaseConnectionConfig
        YapDatabaseConnectionFlushMemoryFlags YapDatabaseConnectionKey YapDatabaseConnectionPool
        YapDatabaseConnectionProxy YapDatabaseCorruptAction YapDatabaseCrossProcessNotification
        YapDatabaseCryptoUtils YapDatabaseCustomKey YapDatabaseDeserializer YapDatabaseExtension
        YapDatabaseExtensionConnection YapDatabaseExtensionTransaction YapDatabaseExtensionsKey
        YapDatabaseFilteredView YapDatabaseFilteredViewTransaction YapDatabaseFullTextSearch
        YapDatabaseFullTextSearchFTS3Version YapDatabaseFullTextSearchFTS4Version
        YapDatabaseFullTextSearchFTS5Version YapDatabaseFullTextSearchHandler
        YapDatabaseFullTextSearchSnippetOptions YapDatabaseFullTextSearchTransaction YapDatabaseHooks
        YapDatabaseHooksBitMask YapDatabaseHooksChangedMetadata YapDatabaseHooksChangedObject
        YapDatabaseHooksInsertedRow YapDatabaseHooksTouchedMetadata YapDatabaseHooksTouchedObject
        YapDatabaseHooksUpdatedRow YapDatabaseInsertedKeysKey YapDatabaseManualView YapDatabaseManualViewTransaction
        YapDatabaseMetadataChangesKey YapDatabaseModifiedExternallyKey YapDatabaseModifiedExternallyNotification
        YapDatabaseModifiedNotification YapDatabaseObjectChangesKey YapDatabaseOptions YapDatabasePathKey
        YapDatabasePathShmKey YapDatabasePathWalKey YapDatabasePermittedTransactions YapDatabasePolicy
        YapDatabasePostSanitizer YapDatabasePragmaSynchronous YapDatabasePreSanitizer YapDatabaseQuery
        YapDatabaseRTreeIndex YapDatabaseRTreeIndexHandler YapDatabaseRTreeIndexOptions YapDatabaseRTreeIndexSetup
        YapDatabaseRTreeIndexTransaction YapDatabaseReadTransaction YapDatabaseReadWriteTransaction
        YapDatabaseRelationship YapDatabaseRelationshipEdge YapDatabaseRelationshipNode
        YapDatabaseRelationshipOptions YapDatabaseRelationshipTransaction YapDatabaseRemovedCollectionsKey
        YapDatabaseRemovedKeysKey YapDatabaseSearchQueue YapDatabaseSearchResultsView
        YapDatabaseSearchResultsViewOptions YapDatabaseSearchResultsViewTransaction YapDatabaseSecondaryIndex
        YapDatabaseSecondaryIndexColumn YapDatabaseSecondaryIndexHandler YapDatabaseSecondaryIndexOptions
        YapDatabaseSecondaryIndexSetup YapDatabaseSecondaryIndexTransaction YapDatabaseSecondaryIndexType
        YapDatabaseSerializer YapDatabaseSnapshotKey YapDatabaseView YapDatabaseViewChangeDelete
        YapDatabaseViewChangeInsert YapDatabaseViewChangeMove YapDatabaseViewChangeType YapDatabaseViewChangeUpdate
        YapDatabaseViewChangedDependency YapDatabaseViewChangedMetadata YapDatabaseViewChangedObject
        YapDatabaseViewChangedSnippets YapDatabaseViewChangesBitMask YapDatabaseViewConnection
        YapDatabaseViewFiltering YapDatabaseViewFilteringWithKeyBlock YapDatabaseViewFilteringWithMetadataBlock
        YapDatabaseViewFilteringWithRowBlock YapDatabaseViewFind YapDatabaseViewFindWithKeyBlock
        YapDatabaseViewFindWithMetadataBlock YapDatabaseViewFindWithObjectBlock YapDatabaseViewFindWithRowBlock
        YapDatabaseViewGrouping YapDatabaseViewGroupingWithKeyBlock YapDatabaseViewGroupingWithMetadataBlock
        YapDatabaseViewGroupingWithObjectBlock YapDatabaseViewGroupingWithRowBlock YapDatabaseViewGrowOptions
        YapDatabaseViewMappings YapDatabaseViewOptions YapDatabaseViewPin YapDatabaseViewRangeOptions
        YapDatabaseViewRangePosition YapDatabaseViewRowChange YapDatabaseViewSectionChange YapDatabaseViewSorting
        YapDatabaseViewSortingWithKeyBlock YapDatabaseViewSortingWithMetadataBlock
        YapDatabaseViewSortingWithObjectBlock YapDatabaseViewSortingWithRowBlock YapDatabaseViewTransaction
        YapProxyObject YapReachability YapWhitelistBlacklist
        abortAndReset: abortSearchInProgressAndRollback: activeOperations addColumn:withType:
        addCompletionQueue:completionBlock: addDependency: addEdge: addKey:inCollection:toGroup: addOperation:
        aggregateFunction aggressiveWALTruncationSize allCollections allGroups allKeysInCollection:
        allowedCollections allowedGroups asyncBackupToPath:completionBlock:
        asyncBackupToPath:completionQueue:completionBlock: asyncReadWithBlock: asyncReadWithBlock:completionBlock:
        asyncReadWithBlock:completionQueue:completionBlock: asyncReadWriteWithBlock:
        asyncReadWriteWithBlock:completionBlock: asyncReadWriteWithBlock:completionQueue:completionBlock:
        asyncRegisterExtension:withName:completionBlock:
        asyncRegisterExtension:withName:completionQueue:completionBlock:
        asyncRegisterExtension:withName:config:completionBlock:
        asyncRegisterExtension:withName:config:completionQueue:completionBlock:
        asyncUnregisterExtensionWithName:completionBlock:
        asyncUnregisterExtensionWithName:completionQueue:completionBlock: asyncVacuumWithCompletionBlock:
        asyncVacuumWithCompletionQueue:completionBlock: attachCloudURI:forKey:inCollection:
        autoConsolidateGroupsThreshold autoFlushMemoryFlags backupToPath: beginLongLivedReadTransaction block
        cellDrawingDependencyOffsetsForGroup: changes cipherCompatability cipherDefaultkdfIterNumber cipherKeyBlock
        cipherKeySpecBlock cipherPageSize cipherSaltBlock cipherUnencryptedHeaderLength codableDeserializer(_:)
        codableSerializer(_:) collectionAtIndex:inGroup: collectionKey columnAtIndex: columnName columnNames
        compare: completeOperationWithUUID: connection connectionDefaults connectionLimit connectionPoolLifetime
        consolidatedGroupName copyWithNewLength: copyWithNewLength:newOffset: copyWithNewOffset: corruptAction
        database databasePath databaseURL databaseURL_shm databaseURL_wal date defaultDatabaseURL
        defaultDeserializer defaultEllipsesText defaultEndMatchText defaultFileURLDeserializer
        defaultFileURLSerializer defaultMigration defaultNumberOfTokens defaultPipeline defaultSerializer
        defaultStartMatchText dependencies destinationCollection destinationFileURL destinationKey
        destinationNodeForEdge: detachCloudURI:forKey:inCollection: didClearAllCollectionsInNotifications:
        didClearCollection:inNotifications: didCreateNewConnectionBlock didModifyRow didRemoveAllRows didRemoveRow
        disableExceptionsForImplicitlyEndingLongLivedReadTransaction disableYapDatabaseRelationshipNodeProtocol
        edgeCountWithName: edgeCountWithName:destinationFileURL: edgeCountWithName:destinationKey:collection:
        edgeCountWithName:sourceKey:collection: edgeCountWithName:sourceKey:collection:destinationFileURL:
        edgeCountWithName:sourceKey:collection:destinationKey:collection:
        edgeWithName:destinationFileURL:nodeDeleteRules: edgeWithName:destinationKey:collection:nodeDeleteRules:
        edgeWithName:sourceKey:collection:destinationFileURL:nodeDeleteRules:
        edgeWithName:sourceKey:collection:destinationKey:collection:nodeDeleteRules: ellipsesText
        enableExceptionsForImplicitlyEndingLongLivedReadTransaction enableMultiProcessSupport
        endLongLivedReadTransaction endMatchText enqueueQuery: enqueuedQueries enqueuedQueryCount
        enumerateAddedOperationsUsingBlock: enumerateAttachedForCloudURI:usingBlock:
        enumerateAttachedForKey:collection:usingBlock:
        enumerateBm25OrderedKeysAndMetadataMatching:withWeights:usingBlock:
        enumerateBm25OrderedKeysAndObjectsMatching:withWeights:usingBlock:
        enumerateBm25OrderedKeysMatching:withWeights:usingBlock:
        enumerateBm25OrderedRowsMatching:withWeights:usingBlock:
        enumerateChangedCollectionKeysInNotifications:usingBlock:
        enumerateChangedKeysInCollection:inNotifications:usingBlock: enumerateCollectionsForKey:usingBlock:
        enumerateCollectionsUsingBlock: enumerateEdgesWithName:destinationFileURL:usingBlock:
        enumerateEdgesWithName:destinationKey:collection:usingBlock:
        enumerateEdgesWithName:sourceKey:collection:destinationFileURL:usingBlock:
        enumerateEdgesWithName:sourceKey:collection:destinationKey:collection:usingBlock:
        enumerateEdgesWithName:sourceKey:collection:usingBlock: enumerateEdgesWithName:usingBlock:
        enumerateGroupsUsingBlock: enumerateIndexedValuesInColumn:matchingQuery:usingBlock:
        enumerateKeysAndMetadataInAllCollectionsUsingBlock:
        enumerateKeysAndMetadataInAllCollectionsUsingBlock:withFilter:
        enumerateKeysAndMetadataInCollection:usingBlock: enumerateKeysAndMetadataInCollection:usingBlock:withFilter:
        enumerateKeysAndMetadataInGroup:usingBlock: enumerateKeysAndMetadataMatching:usingBlock:
        enumerateKeysAndMetadataMatching:withSnippetOptions:usingBlock:
        enumerateKeysAndMetadataMatchingQuery:usingBlock: enumerateKeysAndObjectsInAllCollectionsUsingBlock:
        enumerateKeysAndObjectsInAllCollectionsUsingBlock:withFilter:
        enumerateKeysAndObjectsInCollection:usingBlock: enumerateKeysAndObjectsInCollection:usingBlock:withFilter:
        enumerateKeysAndObjectsInGroup:usingBlock:
        enumerateKeysAndObjectsInGroup:withOptions:range:filter:usingBlock:
        enumerateKeysAndObjectsInGroup:withOptions:range:usingBlock:
        enumerateKeysAndObjectsInGroup:withOptions:usingBlock: enumerateKeysAndObjectsMatching:usingBlock:
        enumerateKeysAndObjectsMatching:withSnippetOptions:usingBlock:
        enumerateKeysAndObjectsMatchingQuery:usingBlock: enumerateKeysInAllCollectionsUsingBlock:
        enumerateKeysInCollection:usingBlock: enumerateKeysInGroup:usingBlock:
        enumerateKeysInGroup:withOptions:range:usingBlock: enumerateKeysInGroup:withOptions:usingBlock:
        enumerateKeysMatching:usingBlock: enumerateKeysMatching:withSnippetOptions:usingBlock:
        enumerateKeysMatchingQuery:usingBlock: enumerateMetadataForKeys:inCollection:unorderedUsingBlock:
        enumerateObjectsForKeys:inCollection:unorderedUsingBlock: enumerateOperationsUsingBlock:
        enumerateRowsForKeys:inCollection:unorderedUsingBlock: enumerateRowsInAllCollectionsUsingBlock:
        enumerateRowsInAllCollectionsUsingBlock:withFilter: enumerateRowsInCollection:usingBlock:
        enumerateRowsInCollection:usingBlock:withFilter: enumerateRowsInGroup:usingBlock:
        enumerateRowsMatching:usingBlock: enumerateRowsMatching:withSnippetOptions:usingBlock:
        enumerateRowsMatchingQuery:usingBlock: ext: extension: fetchedCollectionsFilter fileURLDeserializer
        fileURLSerializer filtering finalGroup finalIndex finalSection findFirstMatchInGroup:using:
        findRangeInGroup:using: firstObjectInGroup: fixedRangeWithLength:offset:from:
        flexibleRangeWithLength:offset:from: flush flushExtensionRequestsWithCompletionQueue:completionBlock:
        flushMemoryWithFlags: flushTransactionsWithCompletionQueue:completionBlock: ftsVersion fullTextSearchName
        getFirstKey:collection:inGroup: getGroup:index:forIndexPath: getGroup:index:forKey:inCollection:
        getGroup:index:forRow:inSection: getKey:collection:atIndex:inGroup:
        getKey:collection:atIndexPath:withMappings: getKey:collection:forRow:inSection:withMappings:
        getLastKey:collection:inGroup: getNumberOfRows:matchingQuery: getObject:metadata:forKey:inCollection:
        getRow:section:forIndex:inGroup: getRow:section:forKey:inCollection:withMappings:
        getSectionChanges:rowChanges:forNotifications:withMappings:
        getSerializedObject:serializedMetadata:forKey:inCollection: graphCount graphForAddedOperationsInPipeline:
        graphForOperation: groupForKey:inCollection: groupForSection: grouping growOptions
        hasChangeForAnyKeys:inCollection:inNotifications: hasChangeForCollection:inNotifications:
        hasChangeForKey:inCollection:inNotifications: hasChangesForAnyGroups:inNotifications:
        hasChangesForGroup:inNotifications: hasChangesForNotifications: hasGroup:
        hasMetadataChangeForAnyKeys:inCollection:inNotifications: hasMetadataChangeForCollection:inNotifications:
        hasMetadataChangeForKey:inCollection:inNotifications:
        hasObjectChangeForAnyKeys:inCollection:inNotifications: hasObjectChangeForCollection:inNotifications:
        hasObjectChangeForKey:inCollection:inNotifications: hasObjectForKey:inCollection: hasSameIdentifierAndDate:
        holdDateForOperationWithUUID: identifier indexForRow:inGroup: indexForRow:inSection: indexPath
        indexPathForIndex:inGroup: indexPathForKey:inCollection:withMappings: initWithBlacklist:
        initWithColumnNames:handler: initWithColumnNames:handler:versionTag:
        initWithColumnNames:options:handler:ftsVersion:versionTag: initWithColumnNames:options:handler:versionTag:
        initWithConnection: initWithConnection:options: initWithConnection:options:scheduler: initWithDatabase:
        initWithDatabase:readOnlyConnection:readWriteConnection: initWithFilterBlock:
        initWithFullTextSearchName:grouping:sorting:versionTag:options:
        initWithFullTextSearchName:parentViewName:versionTag:options: initWithGroupFilterBlock:sortBlock:view:
        initWithGrouping:sorting: initWithGrouping:sorting:versionTag: initWithGrouping:sorting:versionTag:options:
        initWithGroups:view: initWithIdentifier: initWithIdentifier:date:retryTimeout:requiresInternet:block:
        initWithIdentifier:date:retryTimeout:requiresInternet:queue:block:
        initWithName:destinationFileURL:nodeDeleteRules: initWithName:destinationKey:collection:nodeDeleteRules:
        initWithName:sourceKey:collection:destinationFileURL:nodeDeleteRules:
        initWithName:sourceKey:collection:destinationKey:collection:nodeDeleteRules:
        initWithParentViewName:filtering: initWithParentViewName:filtering:versionTag:
        initWithParentViewName:filtering:versionTag:options: initWithPath: initWithPath:options:
        initWithSetup:handler: initWithSetup:handler:versionTag: initWithSetup:handler:versionTag:options:
        initWithURL: initWithURL:options: initWithVersionTag:options: initWithWhitelist:
        insertKey:inCollection:atIndex:inGroup: insertOperation:inGraph: isActive isAggregateQuery isAllowed:
        isDynamicSectionForAllGroups isDynamicSectionForGroup: isEmpty isEmptyGroup: isFixedRange isFlexibleRange
        isInLongLivedReadTransaction isManualEdge isPersistent isReadyToStartAtDate: isRealObjectLoaded
        isReversedForGroup: isSuspended isUsingConsolidatedGroup iterateCollections(_:)
        iterateKeys(inCollection:using:) iterateKeysAndMetadata(inCollection:using:filter:)
        iterateKeysAndMetadataInAllCollections(_:filter:) iterateKeysAndObjects(inCollection:using:filter:)
        iterateKeysAndObjectsInAllCollections(_:filter:) iterateRows(inCollection:using:filter:)
        iterateRowsInAllCollections(_:filter:) kdfIterNumber keyAtIndex:inGroup: lastObjectInGroup: length
        mappingsWithGroups:view: maxConcurrentOperationCount maxConnectionPoolCount maxLength
        metadataAtIndex:inGroup: metadataAtIndexPath:withMappings: metadataAtRow:inSection:withMappings:
        metadataCacheEnabled metadataCacheLimit metadataForKey:inCollection: migration minLength modifyOperation:
        name nearestIndexPathForRow:inGroup: newConnection newConnection: newIndexPath nodeDeleteRules
        numberOfCollections numberOfGroups numberOfItemsInAllGroups numberOfItemsInGroup: numberOfItemsInSection:
        numberOfKeysInAllCollections numberOfKeysInCollection: numberOfRawChangesForNotifications: numberOfSections
        numberOfTokens objectAtIndex:inGroup: objectAtIndexPath:withMappings: objectAtRow:inSection:withMappings:
        objectCacheEnabled objectCacheLimit objectForKey:inCollection: offset operationWithUUID: options
        originalGroup originalIndex originalSection parentViewName pendingTransactionCount performAggregateQuery:
        performSearchFor: performSearchWithQueue: permittedTransactions persistentUserInfo pin pipelineWithName:
        pragmaAutoVacuum pragmaJournalSizeLimit pragmaMMapSize pragmaPageSize pragmaSynchronous
        previouslyRegisteredExtensionNames priority propertyListDeserializer propertyListSerializer query
        queryMatchingAll queryParameters queryString queryWithAggregateFunction:format:
        queryWithAggregateFunction:format:arguments: queryWithAggregateFunction:string:parameters: queryWithFormat:
        queryWithFormat:arguments: queryWithString:parameters: queue rangeOptionsForGroup: rangePositionForGroup:
        reachability readOnlyConnection readWithBlock: readWriteConnection readWriteWithBlock: realObject
        registerCodableSerialization(_:forCollection:) registerDefaultDeserializer: registerDefaultPostSanitizer:
        registerDefaultPreSanitizer: registerDefaultSerializer: registerDeserializer:forCollection:
        registerExtension:withName: registerExtension:withName:config: registerMetadataDeserializer:forCollection:
        registerMetadataPostSanitizer:forCollection: registerMetadataPreSanitizer:forCollection:
        registerMetadataSerializer:forCollection: registerObjectDeserializer:forCollection:
        registerObjectPostSanitizer:forCollection: registerObjectPreSanitizer:forCollection:
        registerObjectSerializer:forCollection: registerPipeline: registerPostSanitizer:forCollection:
        registerPreSanitizer:forCollection:
        registerSerializer:deserializer:preSanitizer:postSanitizer:forCollections: registerSerializer:forCollection:
        registeredDatabase registeredExtension: registeredExtensions registeredName registeredPipelineNames
        registeredPipelines removeAllItemsInGroup: removeAllObjectsInAllCollections removeAllObjectsInCollection:
        removeAllTagsForKey: removeEdge:withProcessing:
        removeEdgeWithName:sourceKey:collection:destinationKey:collection:withProcessing: removeItemAtIndex:inGroup:
        removeKey:inCollection:fromGroup: removeObjectForKey:inCollection: removeObjectsForKeys:inCollection:
        removeRangeOptionsForGroup: removeTagForKey:withIdentifier: replaceMetadata:forKey:inCollection:
        replaceMetadata:forKey:inCollection:withSerializedMetadata: replaceObject:forKey:inCollection:
        replaceObject:forKey:inCollection:withSerializedObject: requiresInternet reset
        resetObjectForKey:inCollection: resume retryTimeout rollback row(forKey:inCollection:) rowForIndex:inGroup:
        rowidsForKeys:inCollection: sectionForGroup: serializedMetadataForKey:inCollection:
        serializedObjectForKey:inCollection: setAutoConsolidateGroupsThreshold:withName:
        setCellDrawingDependencyForNeighboringCellWithOffset:forGroup: setCellDrawingDependencyOffsets:forGroup:
        setColumns: setDefaultMetadataPolicy: setDefaultObjectPolicy: setFiltering:versionTag:
        setGrouping:sorting:versionTag: setHoldDate:forOperationWithUUID: setIsDynamicSection:forGroup:
        setIsDynamicSectionForAllGroups: setIsReversed:forGroup: setLogHandler: setMetadataPolicy:forCollection:
        setObject:forKey:inCollection: setObject:forKey:inCollection:withMetadata:
        setObject:forKey:inCollection:withMetadata:serializedObject:serializedMetadata:
        setObjectPolicy:forCollection: setOperationSerializer:deserializer: setRangeOptions:forGroup:
        setSorting:versionTag: setStatusAsActiveForOperationWithUUID: setStatusAsPendingForOperationWithUUID:
        setStatusAsPendingForOperationWithUUID:retryDelay: setTag:forKey:withIdentifier: skipInitialViewPopulation
        skipOperationWithUUID: skipOperationsPassingTest: snapshot snapshotOfLastUpdate snippetForKey:inCollection:
        snippetOptions sorting sourceCollection sourceKey sourceNodeForEdge: sqliteVersion startMatchText
        startOperation:forPipeline: statusForOperationWithUUID: suspend suspendCount suspendWithCount:
        tagForKey:withIdentifier: timestampDeserializer timestampSerializer touchMetadataForKey:inCollection:
        touchObjectForKey:inCollection: touchRowForKey:inCollection: type unregisterExtensionWithName:
        updateWithTransaction: userInfo vacuum versionTag view visibleGroups willModifyRow willRemoveAllRows
        willRemoveRow withKeyBlock: withMetadataBlock: withObjectBlock: withOptions:keyBlock:
        withOptions:metadataBlock: withOptions:objectBlock: withOptions:rowBlock: withRowBlock: yapActionItems
        yapDatabaseModifiedNotificationCustomObject yapDatabaseRelationshipEdgeDeleted:withReason:
        yapDatabaseRelationshipEdges
        """)

    private static func words(_ text: String) -> [String] {
        text.split { $0 == " " || $0 == "\n" }.map(String.init)
    }
}
