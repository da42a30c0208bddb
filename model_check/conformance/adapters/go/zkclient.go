package main

import (
	"errors"
	"slices"
	"strings"
)

// This file has ZkClient, as much of it as a controller uses, and ZkUtils on top of it.

// These are ZooKeeper's errors as far as something depends on them. ConnectionLoss and SessionExpired end an operation
// only where it is bound to one session.
var (
	errNoNode         = errors.New("NoNode")
	errNodeExists     = errors.New("NodeExists")
	errBadVersion     = errors.New("BadVersion")
	errConnectionLoss = errors.New("ConnectionLoss")
	errSessionExpired = errors.New("SessionExpired")
)

// zookeeperErrors has them by their names.
var zookeeperErrors = map[string]error{
	"NoNode": errNoNode, "NodeExists": errNodeExists, "BadVersion": errBadVersion,
	"ConnectionLoss": errConnectionLoss, "SessionExpired": errSessionExpired,
}

// anyVersion is the version of an unconditional write.
const anyVersion = -1

// dataListener is told that the data of a znode have changed, and, perhaps, that the znode is gone.
type dataListener struct {
	changed func(data *string) error
	deleted func() error
}

// childListener is told which children a znode has.
type childListener struct {
	changed func(children []string) error
}

// zkClient does operations until they are answered, and calls listeners. One that is subscribed twice is called once;
// it is the same only if it is the same pointer.
type zkClient struct {
	talk     *conversation
	data     map[string][]*dataListener
	children map[string][]*childListener
}

// ---- Operations ----

// operate does an operation until it is answered, under whatever session.
func (z *zkClient) operate(op zkOperation) (*result, error) {
	for {
		result, err := z.talk.ask(op)
		if !errors.Is(err, errConnectionLoss) && !errors.Is(err, errSessionExpired) {
			return result, err
		}
	}
}

// listens says whether a read of a path sets the watch again.
func (z *zkClient) listens(path string) bool { return len(z.data[path])+len(z.children[path]) > 0 }

// exists says whether there is a znode.
func (z *zkClient) exists(path string) (bool, error) {
	result, err := z.operate(zkOperation{Op: "exists", Path: path, Watch: z.listens(path)})
	return result != nil, err
}

// get reads the data of a znode, and their version.
func (z *zkClient) get(path string) (data *string, version int, err error) {
	result, err := z.operate(zkOperation{Op: "get", Path: path, Watch: z.listens(path)})
	if err != nil {
		return nil, 0, err
	}
	return result.Data, result.Version, nil
}

// childrenIfAny has the children of a znode in ascending order; one that is not there has none.
func (z *zkClient) childrenIfAny(path string) ([]string, error) {
	result, err := z.operate(zkOperation{Op: "children", Path: path, Watch: z.listens(path)})
	if errors.Is(err, errNoNode) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	slices.Sort(result.Children)
	return result.Children, nil
}

// create makes a persistent znode.
func (z *zkClient) create(path string, data *string) error {
	_, err := z.operate(zkOperation{Op: "create", Path: path, Data: data})
	return err
}

// createWithParents makes a persistent znode, and its parents if they are missing.
func (z *zkClient) createWithParents(path string, data *string) error {
	err := z.create(path, data)
	if !errors.Is(err, errNoNode) {
		return err
	}
	parent := path[:strings.LastIndex(path, "/")]
	if err := z.createWithParents(parent, nil); err != nil && !errors.Is(err, errNodeExists) {
		return err
	}
	return z.create(path, data)
}

// set writes on a version, and gives the version then.
func (z *zkClient) set(path, data string, on int) (version int, err error) {
	result, err := z.operate(zkOperation{Op: "set", Path: path, Data: &data, Version: &on})
	if err != nil {
		return -1, err
	}
	return result.Version, nil
}

// upsert writes in any case, and makes the znode if it is missing.
func (z *zkClient) upsert(path, data string) error {
	_, err := z.set(path, data, anyVersion)
	if errors.Is(err, errNoNode) {
		if err = z.createWithParents(path, &data); errors.Is(err, errNodeExists) {
			_, err = z.set(path, data, anyVersion)
		}
	}
	return err
}

// delete removes a znode, and says whether there was one.
func (z *zkClient) delete(path string) (deleted bool, err error) {
	on := anyVersion
	_, err = z.operate(zkOperation{Op: "delete", Path: path, Version: &on})
	if errors.Is(err, errNoNode) {
		return false, nil
	}
	return err == nil, err
}

// deleteRecursive removes a znode and all below it. It gives up, without an error, where a child is gone already.
func (z *zkClient) deleteRecursive(path string) (deleted bool, err error) {
	result, err := z.operate(zkOperation{Op: "children", Path: path})
	if errors.Is(err, errNoNode) {
		return true, nil
	} else if err != nil {
		return false, err
	}
	slices.Sort(result.Children)
	for _, child := range result.Children {
		if deleted, err := z.deleteRecursive(path + "/" + child); err != nil || !deleted {
			return false, err
		}
	}
	return z.delete(path)
}

// ---- Listeners ----

// subscribeData has a listener called as the data of a znode change.
func (z *zkClient) subscribeData(path string, listener *dataListener) {
	if !slices.Contains(z.data[path], listener) {
		z.data[path] = append(z.data[path], listener)
	}
	_, _ = z.operate(zkOperation{Op: "exists", Path: path, Watch: true}) // which has no error
}

// unsubscribeData has a listener called no more.
func (z *zkClient) unsubscribeData(path string, listener *dataListener) {
	z.data[path] = without(z.data[path], listener)
}

// subscribeChildren has a listener called as the children of a znode change.
func (z *zkClient) subscribeChildren(path string, listener *childListener) {
	if !slices.Contains(z.children[path], listener) {
		z.children[path] = append(z.children[path], listener)
	}
	_, _ = z.operate(zkOperation{Op: "exists", Path: path, Watch: true})
	_, _ = z.operate(zkOperation{Op: "children", Path: path, Watch: true}) // no znode is no error to Kafka
}

// unsubscribeChildren has a listener called no more.
func (z *zkClient) unsubscribeChildren(path string, listener *childListener) {
	z.children[path] = without(z.children[path], listener)
}

// without is the listeners but for one.
func without[L comparable](listeners []L, gone L) []L {
	return slices.DeleteFunc(slices.Clone(listeners), func(one L) bool { return one == gone })
}

// call is a listener that is to be called, about a path.
type call struct {
	path     string
	data     *dataListener
	children *childListener
}

// concerned has those who are to be called as a watch fires.
func (z *zkClient) concerned(path, kind string) (calls []call) {
	if kind != "NodeDataChanged" {
		for _, listener := range z.children[path] {
			calls = append(calls, call{path: path, children: listener})
		}
	}
	if kind != "NodeChildrenChanged" {
		for _, listener := range z.data[path] {
			calls = append(calls, call{path: path, data: listener})
		}
	}
	return calls
}

// everybody has all listeners there are, who are called once after the end of a session.
func (z *zkClient) everybody() (calls []call) {
	for _, path := range sortedKeys(z.children) {
		calls = append(calls, z.concerned(path, "NodeChildrenChanged")...)
	}
	for _, path := range sortedKeys(z.data) {
		calls = append(calls, z.concerned(path, "NodeDataChanged")...)
	}
	return calls
}

// notify sets the watch again, reads, and calls a listener with that. What the listener raises is logged by Kafka, and
// no more.
func (z *zkClient) notify(c call) {
	_, err := z.operate(zkOperation{Op: "exists", Path: c.path, Watch: true})
	if err == nil && c.children != nil {
		result, err := z.operate(zkOperation{Op: "children", Path: c.path, Watch: true})
		if err == nil {
			slices.Sort(result.Children)
			_ = c.children.changed(result.Children)
		}
		return
	}
	result, err := z.operate(zkOperation{Op: "get", Path: c.path, Watch: true})
	if err == nil {
		_ = c.data.changed(result.Data)
	} else if errors.Is(err, errNoNode) && c.data.deleted != nil {
		_ = c.data.deleted()
	}
}
