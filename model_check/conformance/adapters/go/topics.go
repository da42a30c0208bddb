package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file has what a controller does as topics and partitions are created, as leaders announce changes of an ISR, and
// what it reads and writes for all of that.

const (
	brokersPath      = "/brokers/ids"
	topicsPath       = "/brokers/topics"
	notificationPath = "/isr_change_notification"
)

func topicPath(topic string) string   { return topicsPath + "/" + topic }
func configPath(topic string) string  { return "/config/topics/" + topic }
func requestPath(topic string) string { return "/admin/delete_topics/" + topic }

// statePath is that of the state znode of a partition.
func statePath(name string) string {
	return topicPath(topicOf(name)) + "/partitions/" + strconv.Itoa(numberOf(name)) + "/state"
}

// topicPartition is a partition as a znode names it.
type topicPartition struct {
	Topic     string
	Partition int
}

// name is how a partition is named here.
func (p topicPartition) name() string { return p.Topic + "-" + strconv.Itoa(p.Partition) }

// numberOf is the number of a partition in its topic.
func numberOf(name string) int {
	number, _ := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	return number
}

// sortedKeys has the keys of a map, ascending, as they are now; no keys are an empty list and not null.
func sortedKeys[V any](m map[string]V) []string {
	keys := slices.AppendSeq([]string{}, maps.Keys(m))
	slices.Sort(keys)
	return keys
}

// setOf makes a set of names.
func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// encoded is what a znode is written with.
func encoded(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(over{err}) // nothing here cannot be encoded
	}
	return string(text)
}

// ---- Topics and partitions ----

// onTopicChange creates the partitions of topics that are new. Of those that are gone it forgets AR, and no more (D53).
func (k *kafkaController) onTopicChange(children []string) error {
	if !k.partitionsStarted {
		return nil
	}
	now, fresh := setOf(children), []string{}
	for _, topic := range children {
		if !k.allTopics[topic] {
			fresh = append(fresh, topic)
		}
	}
	gone := k.allTopics
	k.allTopics = now
	added, err := k.readAssignments(fresh)
	if err != nil {
		return err
	}
	maps.DeleteFunc(k.assigned, func(name string, _ brokers) bool { return gone[topicOf(name)] && !now[topicOf(name)] })
	maps.Copy(k.assigned, added)
	for _, topic := range fresh {
		k.listenToTopic(topic)
	}
	if len(fresh) > 0 {
		k.createPartitions(sortedKeys(added))
	}
	return nil
}

// listenToTopic has partitions noticed that are added to a topic.
func (k *kafkaController) listenToTopic(topic string) {
	listener := k.dataWhileActive(func(*string) error { return k.onPartitionsChange(topic) })
	k.topicListeners[topic] = listener
	k.zk.subscribeData(topicPath(topic), listener)
}

// onPartitionsChange creates the partitions that are new, unless the topic is queued for deletion.
func (k *kafkaController) onPartitionsChange(topic string) error {
	added, err := k.readAssignments([]string{topic})
	if err != nil || k.queued[topic] {
		return err
	}
	for name := range k.assigned {
		delete(added, name)
	}
	if len(added) > 0 {
		maps.Copy(k.assigned, added)
		k.createPartitions(sortedKeys(added))
	}
	return nil
}

// createPartitions takes new partitions online, with their replicas.
func (k *kafkaController) createPartitions(names []string) {
	k.handleStateChanges(names, change{target: "NewPartition"})
	k.handleStateChanges(k.replicasOf(names), change{target: "NewReplica"})
	k.handleStateChanges(names, change{target: "OnlinePartition", selector: "offline"})
	k.handleStateChanges(k.replicasOf(names), change{target: "OnlineReplica"})
}

// readAssignments reads AR of all partitions of some topics. A topic that is gone, or is no JSON, has none.
func (k *kafkaController) readAssignments(topics []string) (map[string]brokers, error) {
	read := map[string]brokers{}
	for _, topic := range topics {
		data, _, err := k.zk.get(topicPath(topic))
		if errors.Is(err, errNoNode) || err == nil && data != nil && !isJSON(data) {
			continue
		} else if err != nil {
			return nil, err
		}
		var value struct{ Partitions map[string]brokers }
		if err := k.readLists(topicPath(topic), data, &value); err != nil {
			return nil, err
		}
		for number, replicas := range value.Partitions {
			read[topic+"-"+number] = replicas
		}
	}
	return read, nil
}

// readLists reads a znode that has lists of brokers. Kafka looks at their members only as it uses them, and does half of
// the work before it fails at a text. This controller does not go so far.
func (k *kafkaController) readLists(path string, data *string, into any) error {
	err := k.adapter.readInto(path, data, into)
	var value any
	if err == nil || data == nil || json.Unmarshal([]byte(*data), &value) != nil {
		return err
	}
	if mended := encoded(withNumbers(value)); k.adapter.readInto(path, &mended, into) == nil {
		panic(over{skip("a list of brokers has a member that is no number: " + *data)})
	}
	return err
}

// withNumbers is a JSON value, a number in the place of every text in a list.
func withNumbers(value any) any {
	switch v := value.(type) {
	case object:
		for key, inner := range v {
			v[key] = withNumbers(inner)
		}
	case []any:
		for i, member := range v {
			if _, isText := member.(string); isText {
				member = 0
			}
			v[i] = withNumbers(member)
		}
	}
	return value
}

// ---- State znodes ----

// readState reads the state znode of a partition.
func (k *kafkaController) readState(name string) (*leadership, error) {
	data, version, err := k.zk.get(statePath(name))
	if errors.Is(err, errNoNode) || err == nil && data != nil && !isJSON(data) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	stands, err := k.adapter.readState(data)
	return &leadership{stands, version}, err
}

// createState makes a state znode, with the parents that are missing.
func (k *kafkaController) createState(name string, to state) error {
	data := to.encoded()
	return k.zk.createWithParents(statePath(name), &data)
}

// updateState writes a state znode on a version. Where another one stands that says the same, it counts as written.
func (k *kafkaController) updateState(name string, to state, on int) (version int, done bool) {
	version, err := k.zk.set(statePath(name), to.encoded(), on)
	if errors.Is(err, errBadVersion) {
		if stands, err := k.readState(name); err == nil && stands != nil && stands.equal(to) {
			return stands.ZkVersion, true
		}
	}
	return version, err == nil
}

// encoded is a state as its znode has it.
func (s state) encoded() string {
	return encoded(struct {
		Version int `json:"version"`
		state
	}{1, s})
}

// isUnclean says what a topic is configured to, or else the broker.
func (k *kafkaController) isUnclean(topic string) (bool, error) {
	data, _, err := k.zk.get(configPath(topic))
	if errors.Is(err, errNoNode) || err == nil && data == nil {
		return k.settings.Unclean, nil
	} else if err != nil {
		return false, err
	}
	var value struct{ Config map[string]string }
	if err := k.adapter.readInto(configPath(topic), data, &value); err != nil {
		return false, err
	}
	own, there := value.Config["unclean.leader.election.enable"]
	if !there {
		return k.settings.Unclean, nil
	}
	return strconv.ParseBool(strings.ToLower(own))
}

// updateLeaderships reads the state znodes of some partitions, all of them before the cache takes any.
func (c *controller) updateLeaderships(names []string) error {
	read := map[string]leadership{}
	for _, name := range names {
		stands, err := c.znodes.readState(name)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		} else if stands != nil {
			read[name] = *stands
		}
	}
	maps.Copy(c.leaderships, read)
	return nil
}

// ---- Changes of an ISR ----

// onIsrNotifications takes what leaders announce into the cache, and removes the notifications in any case.
func (k *kafkaController) onIsrNotifications(children []string) error {
	names, err := k.readNotifications(children)
	if err == nil {
		err = k.takeIsrChanges(names)
	}
	for _, child := range children {
		if _, err := k.zk.delete(notificationPath + "/" + child); err != nil {
			return err
		}
	}
	return err
}

// readNotifications has the partitions that some notifications name. One that is gone names nothing.
func (k *kafkaController) readNotifications(children []string) (names []string, err error) {
	for _, child := range children {
		data, _, err := k.zk.get(notificationPath + "/" + child)
		if errors.Is(err, errNoNode) {
			continue
		} else if err != nil {
			return nil, err
		}
		some, err := k.adapter.readNotification(data)
		if err != nil {
			return nil, err
		}
		names = append(names, some...)
	}
	return names, nil
}

// takeIsrChanges takes what the state znodes of some partitions say into the cache, and tells everybody.
func (c *controller) takeIsrChanges(names []string) error {
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if err := c.updateLeaderships(names); err != nil {
		return err
	}
	return c.sendUpdateMetadata(names...)
}
