import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('topology', {
  node_type_exists: ['conflict', 'A node type named {name} already exists.'],
  too_many_node_types: [
    'conflict',
    'The limit of {max} node types has been reached; delete some that you no longer need.',
  ],
  node_type_built_in: ['conflict', 'The node type {name} is built in and cannot be deleted.'],
  node_type_in_use: [
    'conflict',
    'The node type {name} is in use by these nodes: {used}; delete them first.',
  ],
  no_node_type: ['not_found', 'There is no node type {name}.'],
  too_many_nodes: [
    'conflict',
    'The limit of {max} nodes has been reached; delete some that you no longer need.',
  ],
  host_node: [
    'conflict',
    'Node {id} is the host node of device {device_id}, and takes its name and tags from it; change them on the device.',
  ],
  host_node_kept: [
    'conflict',
    'Node {id} is the host node of device {device_id}; delete the device to delete its node, too.',
  ],
  node_in_use: [
    'conflict',
    'Node {id} ({name}) has relations: {relations}; delete them first, or use cascade=true.',
  ],
  no_host_node: ['not_found', 'Device {deviceId} has no host node.'],
  no_node: ['not_found', 'There is no node {id}.'],
  unknown_node_type: ['invalid_argument', 'There is no node type {type}.'],
  relation_type_exists: ['conflict', 'A relation type named {name} already exists.'],
  too_many_relation_types: [
    'conflict',
    'The limit of {max} relation types has been reached; delete some that you no longer need.',
  ],
  relation_type_built_in: [
    'conflict',
    'The relation type {name} is built in and cannot be deleted.',
  ],
  relation_type_in_use: [
    'conflict',
    'The relation type {name} is in use by these relations: {used}; delete them first.',
  ],
  no_relation_type: ['not_found', 'There is no relation type {name}.'],
  too_many_relations: [
    'conflict',
    'The limit of {max} relations has been reached; delete some that you no longer need.',
  ],
  no_relation: ['not_found', 'There is no relation {id}.'],
  relation_exists: ['conflict', 'Relation {same} already exists: {src_id} {type} {dst_id}.'],
  value: ['invalid_argument', '{path} {message}'],
  which_node: ['invalid_argument', 'Specify a node with node_id or device_id.'],
});
