package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// This file has the election of a controller, its failover and its resignation: ZookeeperLeaderElector, and what
// KafkaController does by it.

const (
	controllerPath = "/controller"
	epochPath      = "/controller_epoch"
)

// kafkaController is a controller that runs.
type kafkaController struct {
	*controller
	broker         int
	settings       settings
	talk           *conversation
	zk             *zkClient
	toBeCalled     []call // the listeners that there were as the session ended
	leaderID       int    // who is the controller, as far as the broker knows; -1: unknown
	epochZkVersion int
	allTopics      map[string]bool
	electing       map[string]bool // the partitions of preferred elections that run
	thread         deletionThread
	channelTo      map[int]bool // to whom there are channels; nil: not active
	opened         map[int]bool // to whom there are channels, those included that nobody knows of any more
	awaited        map[int]int  // by the number of a request the broker whose answer is waited for
	topicListeners map[string]*dataListener

	onBrokers, onTopics, onDeletions, onNotifications *childListener
	onRequestToReassign, onRequestToElect             *dataListener
}

// newKafkaController makes a controller that knows nothing yet.
func (a *adapter) newKafkaController(broker int, s settings, talk *conversation) *kafkaController {
	k := &kafkaController{
		broker: broker, settings: s, talk: talk, leaderID: -1, allTopics: map[string]bool{}, electing: map[string]bool{},
		opened: map[int]bool{}, awaited: map[int]int{}, topicListeners: map[string]*dataListener{},
	}
	k.zk = &zkClient{talk: talk, data: map[string][]*dataListener{}, children: map[string][]*childListener{}}
	k.controller = a.start(k, k)
	k.leaving, k.resign = nil, k.resignElection
	k.onBrokers = k.whileActive(k.onBrokerChange)
	k.onTopics = k.whileActive(k.onTopicChange)
	k.onDeletions = k.whileActive(k.onDeleteTopicsChange)
	k.onNotifications = k.whileActive(k.onIsrNotifications)
	k.onRequestToReassign = k.dataWhileActive(k.onReassignmentRequest)
	k.onRequestToElect = k.dataWhileActive(k.onElectionRequest)
	return k
}

// isActive says whether the controller acts: not whether it owns /controller.
func (k *kafkaController) isActive() bool { return k.channelTo != nil }

// whileActive makes a listener that does nothing while the controller is not active.
func (k *kafkaController) whileActive(do func(children []string) error) *childListener {
	return &childListener{func(children []string) error {
		if !k.isActive() {
			return nil
		}
		return do(children)
	}}
}

// dataWhileActive is the same of the data of a znode.
func (k *kafkaController) dataWhileActive(do func(data *string) error) *dataListener {
	return &dataListener{changed: func(data *string) error {
		if !k.isActive() {
			return nil
		}
		return do(data)
	}}
}

// ---- Election ----

// startUp listens to /controller, and elects.
func (k *kafkaController) startUp() {
	k.zk.subscribeData(controllerPath, &dataListener{changed: k.onControllerChange, deleted: k.onControllerGone})
	_ = k.elect() // what it raises is logged
}

// readController reads who is the controller; -1: nobody.
func (k *kafkaController) readController() (int, error) {
	data, _, err := k.zk.get(controllerPath)
	if errors.Is(err, errNoNode) {
		return -1, nil
	} else if err != nil {
		return -1, err
	}
	return k.parseController(data)
}

// parseController has the id that stands in /controller.
func (k *kafkaController) parseController(data *string) (int, error) {
	var value struct{ Brokerid int }
	err := k.adapter.readInto(controllerPath, data, &value)
	return value.Brokerid, err
}

// elect tries to become controller, unless there is one. What is raised on the way has it resign.
func (k *kafkaController) elect() error {
	standing, err := k.readController()
	if err != nil {
		return err
	}
	if k.leaderID = standing; standing != -1 {
		return nil
	}
	if err = k.createController(); err == nil {
		k.leaderID = k.broker
		err = k.onControllerFailover()
	}
	if errors.Is(err, errNodeExists) {
		k.leaderID, err = k.readController()
		return err
	} else if err != nil {
		k.resignElection()
	}
	return nil
}

// createController makes /controller under one session, whose end is an error. One that is there already, of this
// session, counts as made.
func (k *kafkaController) createController() error {
	now := strconv.FormatInt(time.Now().UnixMilli(), 10)
	data := encoded(object{"version": 1, "brokerid": k.broker, "timestamp": now})
	for {
		_, err := k.talk.ask(zkOperation{Op: "create", Path: controllerPath, Data: &data, Ephemeral: true})
		if errors.Is(err, errNodeExists) {
			var stands *result
			if stands, err = k.readOwner(); err == nil && !stands.Own {
				return errNodeExists
			}
		}
		if !errors.Is(err, errConnectionLoss) && !errors.Is(err, errNoNode) {
			return err
		}
	}
}

// readOwner reads /controller under one session.
func (k *kafkaController) readOwner() (*result, error) {
	for {
		result, err := k.talk.ask(zkOperation{Op: "get", Path: controllerPath})
		if !errors.Is(err, errConnectionLoss) {
			return result, err
		}
	}
}

// resignElection gives /controller up, whoever has made what stands there. The controller stays active.
func (k *kafkaController) resignElection() {
	k.leaderID = -1
	_, _ = k.zk.delete(controllerPath)
}

// onControllerChange is called as the data of /controller change.
func (k *kafkaController) onControllerChange(data *string) error {
	was := k.leaderID == k.broker
	now, err := k.parseController(data)
	if err != nil {
		return err
	}
	if k.leaderID = now; was && now != k.broker {
		return k.onControllerResignation()
	}
	return nil
}

// onControllerGone is called as /controller is gone.
func (k *kafkaController) onControllerGone() error {
	if k.leaderID == k.broker {
		if err := k.onControllerResignation(); err != nil {
			return err
		}
	}
	return k.elect()
}

// onNewSession is called as the session has ended, and there is a new one.
func (k *kafkaController) onNewSession() error {
	standing, err := k.readController()
	if err != nil || standing == k.broker { // the broker is elected again already
		return err
	} else if err := k.onControllerResignation(); err != nil {
		return err
	}
	return k.elect()
}

// ---- Failover ----

// onControllerFailover is what a broker does once it is elected.
func (k *kafkaController) onControllerFailover() error {
	if err := k.readEpoch(); err != nil {
		return err
	} else if err := k.incrementEpoch(); err != nil {
		return err
	}
	k.zk.subscribeData(reassignPath, k.onRequestToReassign)
	k.zk.subscribeChildren(notificationPath, k.onNotifications)
	k.zk.subscribeData(electionPath, k.onRequestToElect)
	k.zk.subscribeChildren(topicsPath, k.onTopics)
	k.zk.subscribeChildren("/admin/delete_topics", k.onDeletions)
	k.zk.subscribeChildren(brokersPath, k.onBrokers)
	if err := k.initializeContext(); err != nil {
		return err
	} else if err := k.sendUpdateMetadata(); err != nil {
		return err
	}
	k.startMachines()
	for _, topic := range sortedKeys(k.allTopics) {
		k.listenToTopic(topic)
	}
	for _, name := range sortedKeys(k.reassigning) {
		if r := k.reassigning[name]; r != nil {
			if err := k.initiateReassignment(name, r); err != nil {
				return err
			}
		}
	}
	if err := k.electPreferred(sortedKeys(k.electing), false); err != nil {
		return err
	}
	k.startDeletionThread()
	return nil
}

// readEpoch reads the controller epoch, if there has been any.
func (k *kafkaController) readEpoch() error {
	if there, err := k.zk.exists(epochPath); err != nil || !there {
		return err
	}
	data, version, err := k.zk.get(epochPath)
	if err != nil {
		return err
	}
	var epoch int
	if err := k.adapter.readInto(epochPath, data, &epoch); err != nil {
		return err
	}
	k.epoch, k.epochZkVersion = epoch, version
	return nil
}

// incrementEpoch writes the next controller epoch. Where somebody else has done so, the controller goes on with what it
// has read (D1).
func (k *kafkaController) incrementEpoch() error {
	next := k.epoch + 1
	version, err := k.zk.set(epochPath, strconv.Itoa(next), k.epochZkVersion)
	if err == nil {
		k.epoch, k.epochZkVersion = next, version
	}
	if !errors.Is(err, errNoNode) {
		return nil
	}
	first := "1"
	err = k.zk.create(epochPath, &first)
	if errors.Is(err, errNodeExists) {
		return errors.New("the controller has moved")
	} else if err == nil {
		k.epoch, k.epochZkVersion = 1, 1
	}
	return nil
}

// initializeContext reads all that a controller caches.
func (k *kafkaController) initializeContext() error {
	ids, err := k.zk.childrenIfAny(brokersPath)
	if err != nil {
		return err
	} else if k.registered, err = k.readBrokers(ids); err != nil {
		return err
	}
	topics, err := k.zk.childrenIfAny(topicsPath)
	if err != nil {
		return err
	}
	k.allTopics = setOf(topics)
	if k.assigned, err = k.readAssignments(topics); err != nil {
		return err
	}
	k.leaderships, k.shuttingDown = map[string]leadership{}, nil
	if err := k.updateLeaderships(k.names()); err != nil {
		return err
	} else if err := k.openChannels(); err != nil {
		return err
	} else if err := k.initializeElections(); err != nil {
		return err
	} else if err := k.initializeReassignments(); err != nil {
		return err
	}
	return k.initializeTopicDeletion()
}

// openChannels opens those to all brokers. It fails where one is left over of a term that was not ended properly.
func (k *kafkaController) openChannels() error {
	channelTo := map[int]bool{}
	for _, broker := range k.registered {
		if k.opened[broker] {
			return fmt.Errorf("a channel to broker %d is left over", broker)
		}
		channelTo[broker], k.opened[broker] = true, true
	}
	k.channelTo = channelTo
	return nil
}

// startMachines gives each replica and each partition a state, and takes online what can be.
func (k *kafkaController) startMachines() {
	live := k.live()
	for _, name := range k.names() {
		for _, replica := range k.assigned[name] {
			k.states[replicaKey(name, replica)] = "ReplicaDeletionIneligible"
			if live.has(replica) {
				k.states[replicaKey(name, replica)] = "OnlineReplica"
			}
		}
	}
	k.replicasStarted = true
	k.handleStateChanges(k.replicasOn(live), change{target: "OnlineReplica"})
	for _, name := range k.names() {
		switch leads, led := k.leaderships[name]; {
		case !led:
			k.states[name] = "NewPartition"
		case live.has(leads.Leader):
			k.states[name] = "OnlinePartition"
		default:
			k.states[name] = "OfflinePartition"
		}
	}
	k.partitionsStarted = true
	k.triggerOnline()
}

// ---- Resignation ----

// onControllerResignation ends a term. AR, leadership, reassignments and elections stay in memory (D13).
func (k *kafkaController) onControllerResignation() error {
	k.zk.unsubscribeChildren(notificationPath, k.onNotifications)
	k.zk.unsubscribeData(reassignPath, k.onRequestToReassign)
	k.zk.unsubscribeData(electionPath, k.onRequestToElect)
	if err := k.shutDownDeletion(); err != nil {
		return err
	}
	for name, r := range k.reassigning {
		k.zk.unsubscribeData(statePath(name), r.listener)
	}
	k.partitionsStarted, k.replicasStarted = false, false
	clear(k.states)
	for topic, listener := range k.topicListeners {
		k.zk.unsubscribeData(topicPath(topic), listener)
	}
	clear(k.topicListeners)
	k.zk.unsubscribeChildren(topicsPath, k.onTopics)
	k.zk.unsubscribeChildren("/admin/delete_topics", k.onDeletions)
	k.zk.unsubscribeChildren(brokersPath, k.onBrokers)
	for broker := range k.channelTo {
		delete(k.opened, broker)
	}
	clear(k.awaited)
	k.channelTo, k.epoch, k.epochZkVersion = nil, 0, 0
	return nil
}
