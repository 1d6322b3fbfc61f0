-- Posts a webhook with an id of its own each time. Arguments: the request before the id and the one after it, as
-- files. Prints one line of JSON.
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

local function read(name)
  local file = assert(io.open(name, 'rb'))
  local text = file:read('*a')
  file:close()
  return text
end

function init(args)
  before, after, count = read(args[1]), read(args[2]), 0
end

function request()
  count = count + 1
  return before .. string.format('%08d', count) .. after
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format('{"answered":%d,"micros":%d,"p99":%g,"failed":%d}', summary.requests, summary.duration,
    latency:percentile(99) / 1000, errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
