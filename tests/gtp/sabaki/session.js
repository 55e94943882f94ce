// Sabaki's controller at work: `node session.js PROGRAM ARGUMENT...` prints one JSON object that says what came of each step.

const {ControllerStateTracker} = require('@sabaki/gtp')

const [program, ...args] = process.argv.slice(2)
const tracker = ControllerStateTracker.fromController(program, args)
const {controller} = tracker

const sent = []
controller.on('command-sent', ({command}) => sent.push([command.name, ...command.args].join(' ')))

const moves = text => text.split(' ').map(move => ({name: 'play', args: move.split(':')}))

// What Sabaki has to send to bring the engine to a state, or the error that its user reads.
async function sync(state) {
  sent.length = 0
  try {
    await tracker.sync(state)
    return [...sent]
  } catch (error) {
    return error.message
  }
}

// The lines of an analysis, which is ended, as Sabaki does it, by protocol_version; how long that took.
async function analyse(name, color, enough) {
  const lines = []
  let abort = null
  let begun = 0
  await controller.sendCommand({name, args: [color, '10']}, ({line}) => {
    if (line.startsWith('info')) lines.push(line)
    if (lines.length >= enough && abort === null) {
      begun = performance.now()
      abort = controller.sendCommand({name: 'protocol_version'})
    }
  })
  const milliseconds = performance.now() - begun
  return {lines, milliseconds, version: (await abort).content}
}

async function main() {
  const result = {}
  const first = ['name', 'version', 'protocol_version', 'list_commands'].map(name => controller.sendCommand({name}))
  result.attached = (await Promise.all(first)).map(({content, error}) => ({content, error}))

  const game = {komi: 6.5, boardsize: [9, 9], history: moves('B:E5 W:C3 B:G7 W:C7')}
  result.replay = await sync(game)
  result.same = await sync(game)
  result.back = await sync({...game, history: moves('B:E5 W:C3 B:G7 W:G3')})
  result.other = await sync({...game, history: moves('B:D5 W:C3')})
  result.setUp = await sync({...game, history: moves('B:A1 B:A2 W:B1 B:C3 W:C4 W:J9')})
  result.handicap = await sync({...game, komi: 0.5, history: [{name: 'set_free_handicap', args: ['C3', 'G7']}, ...moves('W:E5')]})
  result.clock = await sync({timeSettings: {mainTime: 0, byoyomiTime: 5, byoyomiStones: 1}})
  result.illegal = await sync({...game, history: moves('B:E5 W:E5')})
  result.tooBig = await sync({...game, boardsize: [25, 25]})

  result.again = await sync({...game, komi: 6.5})
  result.kata = await analyse('kata-analyze', 'B', 3)
  result.lz = await analyse('lz-analyze', 'B', 3)

  const lines = []
  await controller.sendCommand({name: 'kata-genmove_analyze', args: ['B', '10']}, ({line}) => lines.push(line))
  result.played = {lines, history: tracker.state.history.map(({args}) => args.join(':'))}
  result.answer = (await controller.sendCommand({name: 'genmove', args: ['W']})).content
  result.undone = await sync(game)

  let exit = null
  controller.process.once('exit', code => (exit = code))
  const begun = performance.now()
  await controller.stop()
  result.stopped = {code: exit, milliseconds: performance.now() - begun}
  console.log(JSON.stringify(result))
}

main().catch(error => {
  console.error(error)
  process.exit(1)
})
