#!/bin/sh
# Makes what docker-compose.yml needs to start: the operator, a guard and an orchestrator fleet. What is there stays.
set -eu
candor="node packages/cli/dist/main.js"
$candor auth init /auth --servers nats://nats:4222
for identity in "guard guard-1" "orchestrator fleet" "agent agent" "auditor auditor"; do
  set -- $identity
  [ -d "/auth/$1-$2" ] || $candor auth add "$1" "$2" --dir /auth
done
