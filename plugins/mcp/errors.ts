import { defineErrors } from 'svc/sdk';

export const errors = defineErrors('mcp', {
  tool_failed: ['upstream_error', '{name}: {texts}'],
  server_failed: ['upstream_error', 'The MCP server {name} {what}'],
  server_gone: ['unavailable', 'No server in mcp.servers provides {key} any more.'],
  changed_before_call: [
    'conflict',
    'Tool {key} was not called: its description or schema has changed since it was classified; an administrator can review and accept it with POST /api/v1/mcp/servers/{server}/accept.',
  ],
  no_server: [
    'not_found',
    'There is no MCP server {name}; GET /api/v1/mcp/servers lists all servers.',
  ],
  not_as_shown: [
    'conflict',
    'No tool of {name} was accepted: {tool} {why}; check GET /api/v1/mcp/servers again.',
  ],
});
