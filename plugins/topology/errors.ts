import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('topology', {
  node_type_exists: ['conflict', 'there is a node type {name} already'],
  too_many_node_types: [
    'conflict',
    'there are {max} node types already, which is the limit; delete some that are not needed',
  ],
  node_type_built_in: ['conflict', 'the node type {name} is built in and cannot be deleted'],
  node_type_in_use: [
    'conflict',
    'the node type {name} is in use by nodes: {used}; delete them first',
  ],
  no_node_type: ['not_found', 'there is no node type {name}'],
  too_many_nodes: [
    'conflict',
    'there are {max} nodes already, which is the limit; delete some that are not needed',
  ],
  host_node: [
    'conflict',
    'node {id} is the host node of device {device_id}, and has its name and tags; change them at the device',
  ],
  host_node_kept: [
    'conflict',
    'node {id} is the host node of device {device_id}; remove the device, and its node goes with it',
  ],
  node_in_use: [
    'conflict',
    'node {id} ({name}) has relations: {relations}; delete them first, or ask with cascade=true',
  ],
  no_host_node: ['not_found', 'device {deviceId} has no host node'],
  no_node: ['not_found', 'there is no node {id}'],
  unknown_node_type: ['invalid_argument', 'there is no node type {type}'],
  relation_type_exists: ['conflict', 'there is a relation type {name} already'],
  too_many_relation_types: [
    'conflict',
    'there are {max} relation types already, which is the limit; delete some that are not needed',
  ],
  relation_type_built_in: [
    'conflict',
    'the relation type {name} is built in and cannot be deleted',
  ],
  relation_type_in_use: [
    'conflict',
    'the relation type {name} is in use by relations: {used}; delete them first',
  ],
  no_relation_type: ['not_found', 'there is no relation type {name}'],
  too_many_relations: [
    'conflict',
    'there are {max} relations already, which is the limit; delete some that are not needed',
  ],
  no_relation: ['not_found', 'there is no relation {id}'],
  relation_exists: ['conflict', 'relation {same} says so already: {src_id} {type} {dst_id}'],
  value: ['invalid_argument', '{path} {message}'],
  which_node: ['invalid_argument', 'name a node by node_id or by device_id'],
});
