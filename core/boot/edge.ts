export { agentCommand } from './agent-command.ts';
export { askEdge } from './edge-door.ts';
export { serveEdge } from './serve-edge.ts';
