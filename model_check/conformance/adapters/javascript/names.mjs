// Names and small sets. A partition is named as in FORMAT.md: topic, the last `-`, number.

export const partitionName = (topic, partition) => `${topic}-${partition}`;
export const topicOf = (name) => name.slice(0, name.lastIndexOf("-"));
export const topicsOf = (names) => new Set([...names].map(topicOf));

export const topicPath = (topic) => `/brokers/topics/${topic}`;
export const statePath = (name) =>
  `${topicPath(topicOf(name))}/partitions/${name.slice(name.lastIndexOf("-") + 1)}/state`;

export const ascending = (numbers) => [...new Set(numbers)].sort((one, other) => one - other);
export const isSameList = (list, other) => list.length === other.length && list.every((one, n) => one === other[n]);
export const without = (all, some) => { const left = new Set(some); return [...all].filter((one) => !left.has(one)); };
