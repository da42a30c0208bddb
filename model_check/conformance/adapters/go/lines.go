package main

import (
	"fmt"
	"regexp"
	"time"
)

// This file has the kinds of lines in Kafka's two logs. texts.go reads and writes a text by its template, in which a
// field stands as {name}, or as {name:type} where its name does not say how it is written.

// kind is a kind of line.
type kind struct {
	log, name, level, class string
	texts                   []text
}

// text is what a line says up to a release line, if one is named, or in the later ones and in the documentation. An
// empty one says that there is no such line.
type text struct{ upTo, template string }

// always is a text that is the same in each dialect.
func always(template string) []text { return []text{{"", template}} }

const (
	stateChange, control = "state-change.log", "controller.log"

	by      = "Controller {controller} epoch {epoch} "
	from    = "correlation id {correlation_id} from controller {controller} epoch {epoch}"
	ignores = "Broker {broker} ignoring LeaderAndIsr request from controller {controller} with correlation id " +
		"{correlation_id} "
	handles   = "LeaderAndIsr request correlationId {correlation_id} from controller {controller} epoch {epoch} "
	its       = "[Controller {controller}]: "
	source    = "from {source:partition_state} to "
	movedTo   = "from {source:replica_state} to {target:replica_state}"
	leaderIsr = "(Leader:{leader},ISR:{isr},LeaderEpoch:{leader_epoch},ControllerEpoch:{controller_epoch})"
)

// changedForm is a text whose partition is written [t,p] up to 0.10.1, and t-p from then on.
func changedForm(before, behind string) []text {
	return []text{{"as-coded-0.10.1", before + "{partition}" + behind}, {"", before + "{partition:hyphen}" + behind}}
}

// kinds are all kinds of lines.
var kinds = []kind{
	{stateChange, "PartitionBecameNew", "TRACE", "", always(by + "changed partition {partition} state " + source +
		"{target:became_new} with assigned replicas {assigned_replicas}")},
	{stateChange, "PartitionBecameOnline", "TRACE", "", always(by + "changed partition {partition} " + source +
		"{target:became_online} with leader {leader}")},
	{stateChange, "PartitionLostLeader", "TRACE", "", always(by + "changed partition {partition} state " + source +
		"{target:became_lost}")},
	{stateChange, "PartitionChangeFailed", "ERROR", "", always(by + "initiated state change for partition {partition} " +
		source + "{target:partition_state} failed")},
	{stateChange, "LeaderElectionStarted", "TRACE", "", always(by + "started leader election for partition {partition}")},
	{stateChange, "LeaderElected", "TRACE", "", always(by + "elected leader {leader} for Offline partition {partition}")},
	{stateChange, "NoAssignedReplicaAlive", "ERROR", "", always(by + "encountered error during state change of " +
		"partition {partition} from New to Online, assigned replicas are [{assigned_replicas}], live brokers are " +
		"[{live_brokers:set}]. No assigned replica is alive.")},
	{stateChange, "StateZnodeExists", "ERROR", "", always(by + "encountered error while changing partition " +
		"{partition}'s state from New to Online since LeaderAndIsr path already exists with value {value:json} and " +
		"controller epoch {controller_epoch}")},
	{stateChange, "ElectionAborted", "ERROR", "", always(by + "aborted leader election for partition {partition} since " +
		"the LeaderAndIsr path was already written by another controller. This probably means that the current " +
		"controller {controller} went through a soft failure and another controller was elected with epoch " +
		"{controller_epoch}.")},
	{stateChange, "ElectionFailed", "ERROR", "", always(by + "encountered error while electing leader for partition " +
		"{partition} due to: {reason:any}.")},
	{stateChange, "ReplicaChanged", "TRACE", "", always(by + "changed state of replica {replica} for partition " +
		"{partition} " + movedTo)},
	{stateChange, "ReplicaChangeFailed", "ERROR", "", always(by + "initiated state change of replica {replica} for " +
		"partition {partition} " + movedTo + " failed")},
	{stateChange, "LeaderAndIsrSending", "TRACE", "", []text{
		{"as-coded-0.8.2", by + "sending {role} LeaderAndIsr request {leadership} with correlationId {correlation_id} " +
			"to broker {broker} for partition {partition}"},
		{"", by + "sending {role} LeaderAndIsr request {leadership} to broker {broker} for partition {partition}"}}},
	{stateChange, "UpdateMetadataSending", "TRACE", "", []text{
		{"as-coded-0.8.2", by + "sending UpdateMetadata request {leadership} with correlationId {correlation_id} " +
			"to broker {brokers:one} for partition {partition}"},
		{"as-coded-0.10.1", by + "sending UpdateMetadata request {leadership} to broker {brokers:one} for partition " +
			"{partition:hyphen}"},
		{"", by + "sending UpdateMetadata request {leadership} to brokers {brokers:set} for partition " +
			"{partition:hyphen}"}}},
	{stateChange, "LeaderAndIsrReceived", "TRACE", "", []text{
		{"as-coded-0.9.0", "Broker {broker} received LeaderAndIsr request {state:old_state} " + from +
			" for partition {partition}"},
		{"", "Broker {broker} received LeaderAndIsr request {state:new_state} " + from + " for partition {partition}"}}},
	{stateChange, "LeaderAndIsrFromOldController", "WARN", "", always(ignores + "since its controller epoch {epoch} " +
		"is old. Latest known controller epoch is {known_epoch}")},
	{stateChange, "LeaderEpochNotHigher", "WARN", "", []text{
		{"as-coded-0.10.0", ignores + "epoch {epoch} for partition {partition} since its associated leader epoch " +
			"{leader_epoch} is old. Current leader epoch is {current_leader_epoch}"},
		{"", ignores + "epoch {epoch} for partition {partition} since its associated leader epoch {leader_epoch} is " +
			"not higher than the current leader epoch {current_leader_epoch}"}}},
	{stateChange, "NotInAssignedReplicas", "WARN", "", always(ignores + "epoch {epoch} for partition {partition} as " +
		"itself is not in assigned replica list {assigned_replicas}")},
	{stateChange, "TransitionStarted", "TRACE", "", changedForm("Broker {broker} handling "+handles+
		"starting the {role} transition for partition ", "")},
	{stateChange, "TransitionCompleted", "TRACE", "", changedForm("Broker {broker} completed "+handles+
		"for the {role} transition for partition ", "")},
	{stateChange, "LeaderUnavailable", "ERROR", "", changedForm("Broker {broker} received LeaderAndIsrRequest with "+
		from+" for partition ", " but cannot become follower since the new leader {leader} is unavailable.")},
	{stateChange, "BecomeLeaderUnchanged", "INFO", "", changedForm("Broker {broker} skipped the become-leader state "+
		"change after marking its partition as leader with "+from+" for partition ",
		" since it is already the leader for the partition.")},
	{stateChange, "FetcherStarted", "TRACE", "", changedForm("Broker {broker} started fetcher to new leader as part of "+
		"become-follower request from controller {controller} epoch {epoch} with correlation id {correlation_id} for "+
		"partition ", "")},
	{stateChange, "StopReplicaStarted", "TRACE", "", changedForm("Broker {broker} handling stop replica "+
		"(delete={delete}) for partition ", "")},
	{stateChange, "StopReplicaFinished", "TRACE", "", changedForm("Broker {broker} finished handling stop replica "+
		"(delete={delete}) for partition ", "")},
	{stateChange, "StopReplicaFromOldController", "WARN", "", []text{
		{"as-coded-0.9.0", "Broker {broker} received stop replica request from an old controller epoch {epoch}. Latest " +
			"known controller epoch is %d {known_epoch}"},
		{"", "Broker {broker} received stop replica request from an old controller epoch {epoch}. Latest known " +
			"controller epoch is {known_epoch}"}}},
	{stateChange, "PartitionUncached", "TRACE", "", []text{{"as-coded-0.9.0", ""},
		{"", "Broker {broker} deleted partition {partition:hyphen} from metadata cache in response to UpdateMetadata " +
			"request sent by controller {controller} epoch {epoch} with correlation id {correlation_id}"}}},
	{stateChange, "UpdateMetadataFromOldController", "WARN", "", always("Broker {broker} received update metadata " +
		"request with correlation id {correlation_id} from an old controller {controller} with epoch {epoch}. Latest " +
		"known controller epoch is {known_epoch}")},

	{control, "BecomingController", "INFO", "KafkaController", always(its + "Broker {controller} starting become " +
		"controller state transition")},
	{control, "EpochIncremented", "INFO", "KafkaController", always(its + "Controller {controller} incremented epoch " +
		"to {epoch}")},
	{control, "EpochRead", "INFO", "KafkaController", always(its + "Initialized controller epoch to {epoch} and zk " +
		"version {epoch_zk_version}")},
	{control, "BrokerFailure", "INFO", "KafkaController", always(its + "Broker failure callback for {brokers}")},
	{control, "ShuttingDownBroker", "INFO", "KafkaController", always(its + "Shutting down broker {broker}")},
	{control, "IsrShrunk", "INFO", "KafkaController", always(its + "New leader and ISR for partition {partition} is " +
		"{leader_and_isr:json}")},
	{control, "BrokerDifference", "INFO", "ReplicaStateMachine$BrokerChangeListener", always("[BrokerChangeListener on " +
		"Controller {controller}]: Newly added brokers: {new}, deleted brokers: {dead}, all live brokers: {live}")},
	{control, "PartitionsInvoked", "INFO", "PartitionStateMachine", always("[Partition state machine on Controller " +
		"{controller}]: Invoking state change to {target:partition_state} for partitions {partitions}")},
	{control, "ReplicasInvoked", "INFO", "ReplicaStateMachine", always("[Replica state machine on controller " +
		"{controller}]: Invoking state change to {target:replica_state} for replicas {replicas}")},
	{control, "RequestDropped", "WARN", "ControllerChannelManager", always("[Channel manager on controller " +
		"{controller}]: Not sending request {request:any} to broker {broker}, since it is offline.")},
}

// template is the text of a kind in a dialect.
func (a *adapter) template(k kind) string {
	for _, t := range k.texts {
		if t.upTo == "" || a.upTo(t.upTo) {
			return t.template
		}
	}
	return ""
}

// logger is who writes lines of a kind.
func (k *kind) logger() string {
	if k.log == stateChange {
		return "state.change.logger"
	}
	return "kafka.controller." + k.class
}

// line is what the two verbs are given: an entry, or what makes one.
type line struct {
	Log, Entry, Kind, Time string
	Fields                 object
}

// entryForm is an entry: its time, level, text and logger.
var entryForm = regexp.MustCompile(`^\[([^]]*)\] ([A-Z]+) (.*) \(([^()]*)\)$`)

// readLine says of which kind a line is, and what its fields are.
func (a *adapter) readLine(given line) (object, error) {
	parts := entryForm.FindStringSubmatch(given.Entry)
	if parts == nil || !isTime(parts[1]) {
		return nil, errRefused
	}
	for _, k := range kinds {
		if k.log != given.Log || k.level != parts[2] || k.logger() != parts[4] {
			continue
		}
		template := a.template(k)
		if template == "" {
			continue
		}
		if fields, err := readText(template, parts[3]); err == nil {
			return object{
				"kind": k.name, "time": parts[1], "level": k.level, "logger": k.logger(), "fields": fields,
			}, nil
		}
	}
	return nil, errRefused
}

// isTime says whether a text is a time as log4j writes it.
func isTime(text string) bool {
	const layout = "2006-01-02 15:04:05,000"
	at, err := time.Parse(layout, text)
	return err == nil && at.Format(layout) == text
}

// writeLine makes a line of its fields.
func (a *adapter) writeLine(given line) (object, error) {
	for _, k := range kinds {
		if k.log != given.Log || k.name != given.Kind {
			continue
		}
		said, err := writeText(a.template(k), given.Fields)
		return object{"entry": fmt.Sprintf("[%s] %s %s (%s)", given.Time, k.level, said, k.logger())}, err
	}
	return nil, fmt.Errorf("no line of kind %q in %s", given.Kind, given.Log)
}
