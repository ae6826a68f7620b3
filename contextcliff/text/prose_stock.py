"""The words and sentence templates of `prose`.

A stock is a text of entries, separated by line ends or bars. An entry can have slots: `{slot}` is filled from the stock
of that name, `{^slot}` likewise with a capital first letter. Everything was written for this project; people and places
are invented.
"""

from typing import Final

STOCK: Final[dict[str, str]] = {
    "given_f": """
        Maren | Tessaly | Orlanthe | Wenna | Isolde | Brisa | Linnet | Petronel | Sunniva | Hesper
        Corisande | Tamsin
        Elowen | Merrin | Averil | Rosamund | Ottilie | Perpetua | Sabra | Thea | Unwen | Verity | Willa
        Yseult
        Amabel | Bettris | Clemence | Damaris | Emmot | Frideswide | Gunnora | Hilary | Idony | Jessamy
        Keziah
        Lettice | Mirabeth | Nesta | Odette | Philippa | Rohesia | Sidony | Tiffany | Ursula | Winifred
        Zennor
        Annis | Beatrix | Cecily | Dorcas | Edith | Felise | Griselda | Honor | Ingrith | Juliana | Kerensa
    """,
    "given_m": """
        Tobin | Aldous | Corwin | Edric | Garrick | Jory | Kester | Lorcan | Ned | Osric | Perrin | Rafe
        Silas
        Torben | Ulric | Wystan | Yorick | Ambrose | Barnaby | Crispin | Dunstan | Ellery | Fabian | Gervase
        Holdan | Ivo | Jaspin | Kenelm | Lambert | Matthias | Nicol | Odo | Piers | Quill | Rowan | Sampson
        Thaddeus | Valdric | Warin | Anselm | Benedick | Cuthbert | Drogo | Emeric | Fulk | Gilbryn | Hamo
        Isembard | Jocelin | Leofric | Merrivan | Noll | Orsin | Pascoe | Reynard | Simkin | Tancred | Wilmot
    """,
    "given": "{given_f} | {given_m}",
    "surname": "{sur_stem}{sur_end}",
    "sur_stem": """
        Arl | Bram | Cald | Corr | Dell | Drav | Ell | Farr | Fenn | Gann | Grend | Hask | Hurr | Jess | Kell
        Kerr | Lamm | Larr | Mell | Marr | Nett | Orr | Pell | Pend | Quill | Radd | Ross | Sall | Sorr | Tall
        Tarr | Thorn | Udd | Vann | Varr | Wald | Winn | Yarr | Brock | Cress | Dimm | Hobb | Pask | Tress
    """,
    "sur_end": """
        ow | in | ock | ard | el | ett | ick | itt | away | aby | ander | wright | acre | over | iman
        amore
    """,
    "stranger": "{given} {surname}",
    "place_name": "{place_stem}{place_end}",
    "place_stem": """
        Thistle | Quill | Fennel | Brindle | Marrow | Sallow | Osier | Kestrel | Larch | Harrow | Tallow
        Bracken
        Wether | Lantern | Sorrel | Plover | Cinder | Gorse | Teasel | Ivy | Juniper | Hornbeam | Mallow
        Nettle
        Marten | Pippin | Raven | Saffron | Tansy | Umber | Velvet | Willow | Yarrow | Amber | Bramble
        Candle
        Dapple | Ember | Feather | Garland | Heron | Hollow | Candor | Lapwing | Mossy | Pebble | Rushen
        Saddle | Tinder | Wicker | Barley | Copper | Drover | Elder | Fallow | Gannet | Hobble | Meadow
    """,
    "place_end": """
        mere | combe | garth | holt | rill | reach | thwaite | stow | wick | lea | haven | cross | dell | down
        fell | gate | shaw | moor | water | sand | rigg | low | quay | staithe | croft | dene
    """,
    "trade_any": """
        baker | cooper | miller | carter | weaver | tinker | potter | schoolmaster | ferry keeper | blacksmith
        apothecary | innkeeper | saddler | thatcher | chandler | mason | tailor | shepherd | fishmonger
        fiddler
        printer | bookbinder | carpenter | gardener | clockmaker | glazier | rope maker | hatter | tanner
        dyer
        wheelwright | stonecutter | drover | peddler | sexton | postmistress | lamplighter | beekeeper
        surveyor
    """,
    "kin": """
        daughter | son | niece | nephew | brother | sister | cousin | widow | apprentice | grandson
        granddaughter
        aunt | uncle | godson | mother | father-in-law | housekeeper | lodger | partner | youngest boy
        eldest girl
    """,
    "adj_person": """
        quiet | stout | cheerful | careful | elderly | tall | shy | patient | talkative | thin | stubborn
        kindly
        solemn | young | weary | sharp-eyed | soft-spoken | red-haired | broad-shouldered | absent-minded
        proud
        brisk | gentle | restless | sunburnt | lean | grave | awkward | generous | sleepy | blunt
        grey-bearded
    """,
    "person": """
        a {adj_person} {trade_any} | the {trade_any}'s {kin} | {someone} | {someone} | {someone}
        a {adj_person} {trade_any} from {elsewhere} | {stranger} of {elsewhere} | {someone}
    """,
    "adj_obj": """
        small | cracked | plain | heavy | painted | battered | old | copper | wooden | blue | dented
        faded | carved
        narrow | polished | borrowed | tarnished | round | mended | brass | chipped | dusty | odd
        handsome | green
        worn | black | unfinished | clumsy | yellow | shallow | ugly | light | delicate | homemade
        second-hand
        square | stained | slender | sturdy | ivory | empty | oval | lopsided | iron | grey | white | foreign
    """,
    "obj": """
        jug | lantern | basket | ladder | kettle | stool | chest | clock | spoon | bucket | mirror | drum
        key
        bowl | lamp | barrel | ledger | candlestick | trunk | whistle | tray | wheel | box | bottle
        hammer | map
        birdcage | teapot | bench | cradle | umbrella | compass | sieve | rake | bell | crate | mug
        thimble | saw
        frame | shelf | brush | inkwell | flute | walking stick | coat hook | water can | letter rack
        footstool
    """,
    "objs": """
        jugs | lanterns | baskets | ladders | kettles | stools | chests | clocks | spoons | buckets | keys
        bowls
        lamps | barrels | ledgers | candlesticks | trunks | trays | wheels | boxes | bottles | hammers
        maps | mugs
        teapots | benches | bells | crates | brushes | flower pots | picture frames | tins | hinges
        tiles | ropes
        blankets | boots | planks | sacks | plates | jars | curtains | oars | aprons | pillows | gloves
    """,
    "thing": "{adj_obj} {obj}",
    "things": "{adj_obj} {objs}",
    "carried": """
        a {thing} under one arm | two {things} | a basket of {grocery} | a sack of {grocery} | a {thing}
        a handcart full of {things} | an armful of {things} | a {thing} wrapped in sacking
        a tray of {grocery}
        a letter from {elsewhere} | a {thing} on one shoulder | a bundle of {things} | a box of {grocery}
    """,
    "grocery": """
        onions | apples | walnuts | radishes | turnips | eggs | plums | beans | apricots | pears | carrots
        mushrooms
        cherries | pumpkins | figs | chestnuts | parsnips | medlars | cabbages | dried peas | leeks
        raisins | gooseberries | potatoes | cucumbers | hazelnuts | beetroots | quinces | lentils | mulberries
    """,
    "dish": """
        barley soup | a pie of {grocery} and {grocery} | stewed {grocery} | fried fish | bread and cheese
        cold ham
        a broth of {grocery} | roast fowl with {grocery} | pancakes | a dish of {grocery} | buttered {grocery}
        mutton with {grocery} | porridge | potato cakes | an omelette with herbs | dumplings in gravy
        a fish pie
    """,
    "animal": """
        a {fur} cat | a {fur} dog | a {fur} goat | the {trade_any}'s dog | the {trade_any}'s cat | a {fur} hen
        a {fur} donkey | a {fur} pony | the {trade_any}'s old horse | a {fur} goose | a {fur} calf
        a {fur} rabbit
    """,
    "fur": """
        grey | brown | spotted | black | white | lame | sleepy | thin | ginger | fat | muddy | bold
        timid | old
        one-eyed | brindled | curious | half-grown | speckled | bad-tempered | dignified | shaggy | hungry
    """,
    "colour": """
        green | blue | yellow | pale grey | dark red | white | brown | the colour of cream
        the colour of slate
        the colour of old brass | the colour of wet straw | rust red | dull gold | a faded violet
        a soft pink
    """,
    "furniture": """
        the table | the dresser | the window seat | the long bench | the bed | the wardrobe | the writing desk
        the armchair | the bookcase | the hearth | the sideboard | the washstand | the settle
        the back stairs
        the linen chest | the corner cupboard | the mantelpiece | the kitchen stool | the work table
    """,
    "spot": """
        the gatepost | the low wall | the woodpile | the well | the pump | the cart shed | the stile
        the yard gate
        the mounting block | the hen house | the corner of the lane | the horse trough | the notice board
        the old elm
        the churchyard wall | the stable door | the edge of the green | the weighing stone | the lych gate
        the milk stand
    """,
    "civic": """
        the school | the chapel | the inn | the mill | the town hall | the post office | the smithy
        the old barn
        the bakery | the almshouse | the library | the toll house | the bell tower | the granary
        the clock tower
        the guildhall | the corn exchange | the wash house | the weigh house
    """,
    "building_part": """
        roof | chimney | porch | gable | doorway | front wall | weathervane | staircase | cellar | bay window
        cornice | gutter | threshold | east wall | courtyard | attic | buttress | back door | balcony | gate
    """,
    "built_of": """
        grey stone | tarred timber | yellow brick | rough flint | whitewashed clay | old ship timber
        red tile
        pale sandstone | river cobbles | oak and plaster | dark slate | soft limestone | split logs
        packed earth
    """,
    "manner": """
        without hurry | with great care | in silence | with a steady hand | a little stiffly
        with some reluctance
        in good spirits | without looking up | as quietly as {he} could | with more patience than skill
        in {his} usual way | with half {his} mind elsewhere | as though nothing depended on it
        almost cheerfully
        with a sort of stubborn calm | rather slowly | with {his} sleeves rolled | without complaint
    """,
    "span": """
        for a while | for the better part of an hour | for a long moment | for as long as the light allowed
        for some time | longer than {he} had meant to | until {his} hands grew cold | for a quarter of an hour
        until the bell of {civic} rang | for a minute or two | until {person} came by
        until {sound} broke off
    """,
    "age": """
        a dozen years | twenty years | thirty winters | half a lifetime | longer than anyone could say
        nine summers
        a generation | almost a century | fifteen years | seven years | forty years | the whole of {his} life
        five harvests | a good many years | three generations
    """,
    "feeling": """
        relieved | uneasy | content | oddly cheerful | tired | a little ashamed | grateful | calm | hopeful
        in good heart | lonely | well rested | proud in a quiet way | doubtful | homesick | at ease
        sorry | reassured
        impatient | comforted | wistful | out of sorts | less certain than before | in no mood for company
        half amused
    """,
    "trait": """
        great patience | a ready laugh | a poor memory for faces | a fine singing voice
        a blunt way of speaking
        neat hands | a dislike of crowds | slow and exact habits | a way with animals
        a taste for argument | a long stride
        a habit of humming | a great deal of tact | a love of old maps | an unshakable calm
        a gift for silence | a dry wit
        an interest in other people's gardens | strong opinions about bread | a horror of waste
        a modest manner
        a strong arm | an eye for the weather | no head for figures | a sweet tooth | a fondness for proverbs
    """,
    "habit": """
        drank {his} tea without milk | walked to {civic} and back | wrote down the weather | fed the sparrows
        wound the {adj_obj} clock in the hall | polished {his} boots | read a page of some old book aloud
        swept the step before breakfast | counted the {objs} in the shed | carried a {thing} everywhere
        saved every piece of string | left a lamp burning in the window | greeted {animal} by name
        kept a {thing} by the door | sang under {his} breath | slept with the window open | went to bed early
        walked once around {civic} | tasted the soup twice | put a {thing} out on the step
    """,
    "virtue": """
        patience | good rope | honest work | a dry cellar | fair weather | a sharp knife | an early start
        thrift
        a warm coat | good company | a quiet mind | a full barn | a sound roof | courtesy | sleep
        fresh bread
        a borrowed ladder | an old friend | a clean hearth | a short letter | plain food | a steady mule
    """,
    "praise": """
        costs little and lasts long | is worth a long walk | never went out of fashion | keeps its own hours
        does more than a speech | is seldom found in a hurry | will outlast a quarrel | asks for no thanks
        is half of every trade | is the better part of wisdom | comes late and leaves early
        mends most things
        cannot be bought at a fair | is easily lost and slowly found | is wasted on the young
    """,
    "proverb": "{virtue} {praise} | {virtue} {praise} | {virtue} {praise}, and {virtue} {praise}",
    "thought": """
        the {season} had come early to {place} | nobody would thank {him} for the {thing}
        {someone} must have had the same trouble with the {objs}
        the road to {elsewhere} was longer than it looked
        {proverb_past} | things had been made better in {his} grandmother's time
        there would be time enough later
        the {trade_any} from {elsewhere} had been right after all | a {thing} could be a kind of company
        {he} ought to write to {someone} | {fhe} would have laughed at the {thing}
        it was a good place to grow old
        people spoke too quickly at {elsewhere} | there were worse things than {craft} | the {objs} could wait
        {near} would seem strange to {him} now | {person} had meant no harm
        little was ever settled in a hurry
    """,
    "proverb_past": """
        {virtue} was worth more than {virtue} | {virtue} mattered less than {virtue}
        {virtue} was hard to come by
        {virtue} and {virtue} were much the same thing | {virtue} had always been in short supply at {place}
    """,
    "worry": """
        the roof of {civic} | the price of {grocery} | the road to {elsewhere} | the {trade_any}'s debts
        the {objs} in the cellar | {his} sister's cough | the letter from {someone} | the well at {elsewhere}
        the {things} that {someone} had ordered | what {someone} would say | the lease of {room}
        the coming frost
        the quarrel with {someone} | the damp in {room} | whether {someone} would come
        the bridge at {elsewhere}
    """,
    "small_event": """
        a door closed somewhere up the lane | {animal} crossed the yard | {someone} called out to a neighbour
        {animal} slept on {spot} | {person} went by with {carried} | a child ran past with {carried}
        somebody was beating a carpet behind {civic} | {person} stopped to talk by {spot}
        {sound} rose and faded
        the shutters of {civic} were opened one by one | {person} was unloading {things} by {spot}
        the smell of {smell} came in at the window | {birds} settled on the roof of {civic}
        {animal} began to drink
        a cart from {elsewhere} rattled past {civic} | {someone} whistled on the far side of {civic}
        {person} leaned on {spot} and waited | two children quarrelled over a {thing} by {spot}
    """,
    "gossip": """
        {someone} had sold the {thing} at last | {someone} meant to marry the {trade_any}'s {kin}
        the {trade_any} at {elsewhere} had shut up shop | {someone} had come home from {elsewhere}
        the road past {elsewhere} was under water | {someone} had quarrelled with {someone} over a {thing}
        the {building_part} of {civic} would have to be rebuilt | {someone} had found a {thing} in the attic
        the fair at {elsewhere} had been a poor one | {someone} was to have the house by {civic}
        the price of {grocery} had doubled at {elsewhere} | {someone} had left a {thing} to the {trade_any}
        {someone} was teaching the {trade_any}'s {kin} to read | {someone} had bought {animal}
    """,
    "say": """
        the {trade_any} at {elsewhere} will never agree to it | I saw {someone} on {path} only yesterday
        you can keep the {thing} until {season_next} | {proverb}
        we shall need more {objs} before {season_next}
        there is a {thing} for you on {furniture} | they say {someone} is going to {elsewhere}
        my {kin_mine} always kept a {thing} for such days | nobody makes a {thing} like that at {elsewhere}
        I would sooner have {grocery} than {grocery} | it will be dry by tomorrow, or the day after
        I left the {objs} by {spot} | {someone} was asking for you at {civic}
        you were right about the {objs}
        the {objs} can wait until the rain is over | I never liked that {thing} | it was {someone} who said so
        the {building_part} of {civic} needs looking at | I have had enough of {grocery} for one year
        you should show it to {someone} | I will bring the {thing} back after the fair at {elsewhere}
        there was a {thing} exactly like it in my {kin_mine}'s house | {someone} paid for it with {grocery}
    """,
    "kin_mine": "mother | father | aunt | uncle | grandmother | grandfather | sister | brother | old master",
    "ask": """
        have you seen {someone} since the fair | who left the {thing} by {spot}
        is {someone} still at {elsewhere}
        will you go to {elsewhere} before {season_next} | what did {someone} want with the {thing}
        do you remember the {thing} in your {kin_mine}'s house | how much did {someone} pay for the {objs}
        would you carry the {thing} as far as {civic}
        when did {someone} last mend the {building_part} of {civic}
        is it true about {someone} and the {trade_any}'s {kin} | shall I put the {thing} on {furniture}
        why does {someone} never come to {place} | are there any {objs} left | did you hear {sound}
        whose {thing} is this | was it {someone} who built {civic} | can you spare a few {objs}
    """,
    "aside": """
        not unkindly | after a pause | without turning round | with a shrug | and put down the {thing}
        at last
        half to {himself} | and looked toward {spot} | over the noise | quite seriously | with a little smile
        and moved the {thing} aside | as if it settled the matter | in a low voice
        and pointed at the {thing}
        and reached for the {thing} | and tapped the {thing} | with some surprise
        as though the {thing} were to blame
    """,
    "faside": """
        not unkindly | after a pause | without turning round | with a shrug | and put down the {thing}
        at last
        half to {fhimself} | and looked toward {spot} | over the noise | quite seriously | with a little smile
        and moved the {thing} aside | as if it settled the matter | in a low voice
        and pointed at the {thing}
        and reached for the {thing} | and tapped the {thing} | with some surprise
        as though the {thing} were to blame
    """,
    "flower": """
        marigolds | hollyhocks | sweet peas | tulips | foxgloves | poppies | dahlias | violas | asters
        lilies
        wallflowers | pinks | snapdragons | irises | roses | lupins | peonies | columbines | chives
        chrysanthemums | daisies
    """,
    "tune": """
        an old ferry song | a slow dance | a hymn | a drinking song | a march | a lullaby | a shepherd's tune
        a ballad about a drowned bell | a reel | a song about {elsewhere}
        a song that {someone} had brought home
    """,
    "hurt": """
        a broken hinge | a rotten beam | a loose tile | a crack in the plaster | a leaking gutter
        a sagging door
        a split board | a warped frame | a missing slate | a rusted bolt | a hole the size of a plate
        a bent nail
    """,
    "mended_with": """
        a strip of leather | two {things} | a little lime and sand | a length of rope | pine tar | an oak peg
        a piece of an old {obj} | fresh clay | a handful of nails | wire and patience | a plate of thin copper
        linseed oil | a board from an old crate | glue and a clamp | beeswax | moss and mortar
    """,
    "occasion": """
        the harvest supper | the wedding of {someone} | the blessing of the {objs} | the autumn fair
        the choir festival
        the founders' feast | the christening of {someone}'s daughter | the meeting about {civic}
        the spring dance
        the opening of the new {building_part} | the funeral of {stranger} | the reading of {stranger}'s will
        the homecoming of {someone} | the sheep show | the raising of the barn | the boat race
        the lantern walk
    """,
    "learned": """
        how to mend a {obj} | how to judge {grocery} by the smell | the names of the stars | how to keep bees
        how to read the clouds | how to bargain for {objs} | how to keep a secret | the use of a {obj}
        how to sit still | how to sharpen a knife | how to bake with poor flour | the value of a {obj}
        how to talk to horses | how to fold a letter | the old words for {grocery} | how to lose at cards
    """,
    "few": "thirty | forty | fifty | sixty | seventy | eighty | two dozen | three dozen | two hundred",
    "stay": "one night | a week | two days | a fortnight | a single {season} | the length of a fair",
    "trait_inn": """
        a {adj_obj} sign | a landlord with {trait} | {few} {objs} on its walls | a {thing} over the bar
    """,
    "trade_any_pl": """
        shepherds | carters | thatchers | gardeners | drovers | millers | weavers | lovers | lazy people
    """,
    "feeling_plain": "sorry | surprised | unhappy | displeased | eager | reluctant",
    "feeling_simple": """
        content | uneasy | hopeful | homesick | cheerful | lonely | grateful | wistful | calm | tired
    """,
    "feeling_plural": """
        relieved | content | a little tired | in better spirits | hopeful | hungry | reassured
    """,
    "feeling_well": "cheerful | confused | pleasant | sleepy | hopeful | doubtful | peaceful",
    "detail": """
        handles | edges | borders | corners | marks | labels | rims | fastenings | last touches
        measurements
    """,
    "ago_plain": """
        many years before | after the great flood | in the days of the old bridge | before the mill burned
    """,
    "age_past": """
        a dozen years | twenty years | thirty winters | half a lifetime | a good many years | seven years
    """,
    "a_person_plain": """
        a {adj_person} {trade_any} | a {adj_person} {trade_any} | an old {trade_any} from {elsewhere}
    """,
    "a_person_trade": "a {adj_person} {trade_any} | the best {trade_any} | any {trade_any} from {elsewhere}",
    "carried_plain": """
        a {thing} under one arm | two {things} | a basket of {grocery} | a sack of {grocery}
        nothing but a {thing}
        a handcart full of {things} | a bundle of {things} | a {thing} and a {thing} | a box of {grocery}
    """,
    "trait_short": """
        patience | thrift | good humour | silence | plain speech | punctuality | modesty | slow laugh
        long stride
        enormous hat | whistle | careful handwriting | old green coat | love of argument | cough | steady gaze
    """,
    "trait_short_2": """
        the weather | the drains there | the state of the roads | the quality of the bread
        an unpaid bill | the smell
        the behaviour of the {trade_any} there | a stolen {obj} | a lost {obj} | a broken {obj}
    """,
    "kin_plain": """
        daughter | son | niece | nephew | brother | sister | cousin | eldest child | youngest child
    """,
    "kin_old": "grandmother | grandfather | aunt | uncle | great-aunt | godfather | godmother | great-uncle",
    "far_plain": """
        the sea | a waterfall | a ruined bridge | a field of {flower} | a {obj} and some {grocery}
        {animal}
    """,
    "floor": "bare boards | red tiles | beaten earth | worn flagstones | scrubbed planks | old brick",
    "fhe_friend": "{friend} | {person} | {someone}",
    "gossip_dest": """
        {someone} was living there | {someone} had a {thing} for sale there | there was to be a fair there
        {fhe} wanted to see {someone} | {fhe} had never seen the {building_part} there
        {grocery} were cheap there
    """,
    "gossip_present": """
        {someone} is selling the {thing} | {someone} means to marry the {trade_any}'s {kin}
        {someone} has gone to {elsewhere}
        the {trade_any} at {elsewhere} has shut up shop
        {someone} has quarrelled with {someone} over a {thing}
        {someone} is to have the house by {civic} | {someone} has bought {animal}
        {someone} found a {thing} in the attic
    """,
    "wish": "good day | dry weather | luck | a safe road | joy of {dest} | a soft bed | better company",
    "worry_plain": """
        the roof of {civic} | the price of {grocery} | the road to {elsewhere} | the {trade_any}'s debts
        the {objs} in the cellar | the letter from {someone} | the well at {elsewhere}
        the bridge at {elsewhere}
        the {things} that {someone} had ordered | what {someone} would say | the quarrel with {someone}
        the new {trade_any} at {elsewhere} | the theft of a {thing} | the {building_part} of {civic}
    """,
    "dream": """
        {things} | {elsewhere} | a {thing} that would not open | a road without milestones
        {animal} in a {adj_obj} hat
        a house full of {objs} | a fair at {elsewhere} | {someone} and a boat | {grocery} as large as {objs}
    """,
    "manner_plain": """
        with great care | in silence | with a steady hand | without hurry | with a frown | cheerfully | twice
        with two fingers on the scale | as if they were gold | with some ceremony
    """,
    "spice": """
        salt | pepper | nutmeg | mustard | garlic | thyme | vinegar | parsley | onion | bay leaf | cloves
        sage
    """,
    "drink": """
        cider | small beer | elderflower wine | tea | buttermilk | barley water | apple juice
        plum brandy
    """,
    "learned_topic": """
        the smoking of fish | the curing of hams | cheese rolling | bread baking
        the pickling of {grocery}
    """,
    "say_low": "{say}",
    "sound_any": """
        the ticking of a {adj_obj} clock | the rain on the {building_part} | the noise of {objs} | {sound}
    """,
    "smell_any": """
        {smell} | camphor | lamp oil | apples | ink | old paper | boiled cabbage | lavender | wet dog
        soap
    """,
    "adj_size": "large | heavy | splendid | frightening | tall | bright | beautiful | dark",
    "his_hands_objs": "stilts | a tightrope | two barrels | a rolling cask | the ridge of a roof",
    "furniture_seat": "the hearth | the window | the stove | the open door | the back door | the lamp",
    "instrument": """
        fiddle | flute | concertina | whistle | bassoon | harp | trumpet | pair of bagpipes | cracked horn
    """,
    "animal_sound": """
        a dog barked twice | an owl called | a horse stamped in its stall | the cat turned over
        a fox cried
    """,
    "chore_home": """
        banked the fire | wound the clock | locked the door | shut the window | put out the lamp
        fed the cat
    """,
    "weekday": "market day | washing day | feast day | Friday | Monday | Thursday | other day | evening",
    "pest": "snails | sparrows | slugs | caterpillars | rabbits | beetles | greenfly | mice",
    "a_tree": """
        a pear tree | a crooked apple tree | an old quince | a walnut tree | a plum tree | a fig
        a mulberry
    """,
    "colour_wear": "{adj_wear} {wear} and {adj_wear} {wear}",
    "adj_wear": """
        white | black | embroidered | striped | woollen | knitted | green | old-fashioned | borrowed
        blue
    """,
    "wear": "aprons | caps | shawls | waistcoats | gloves | bonnets | sashes | stockings | cuffs | ribbons",
    "obj_or_part": "{obj} | {building_part_one}",
    "building_part_one": "roof | porch | doorway | staircase | balcony | chimney | gate | threshold",
    "sign_now": "{sign} | {view}",
    "plants_in_hand": """
        a handful of {plants} | a pocket full of stones | some {plants} in {his} hat | a {thing}
    """,
    "adj_person_one": """
        quiet | cheerful | careful | tall | shy | patient | talkative | thin | stubborn | kindly | solemn
        brisk | gentle
        soft-spoken | red-haired | absent-minded | restless | lean | grave | generous | blunt
        slow to anger | tidy
    """,
    "feast": """
        the harvest supper | the autumn fair | the founders' feast | the spring dance | the sheep show
        the boat race
        the lantern walk | the choir festival | the flower show | midsummer | the first frost
        the longest night
        the fair at {elsewhere} | the feast at {elsewhere}
    """,
    "bygone": """
        the great flood | the long frost | the wedding of {stranger} | the fire at {elsewhere}
        the late harvest
        the dry wells | the quarrel with {elsewhere} | the new road to {elsewhere} | the two fairs
        the cattle sickness
    """,
}

SETTINGS: Final[dict[str, dict[str, str]]] = {
    "coast": {
        "settlement": "fishing village | harbour town | small port | village above the sea",
        "land": """
            the harbour wall | the shingle beach | the headland | the slipway | the dunes | the salt flats
            the quay
            the rock pools | the breakwater | the cliff top | the little bay | the sea steps
            the drying green
        """,
        "path": """
            the cliff path | the track behind the dunes | the steps to the quay | the coast road
            the sand track
            the lane above the harbour | the old rope walk | the causeway | the chapel path
        """,
        "view": """
            the boats lay tilted on the mud | the tide was far out | nets hung along the rails
            the sea was flat and dull
            a sail stood on the horizon | small waves turned over on the stones | foam gathered along the wall
            the fishing fleet was coming in | the buoys rocked in the swell
            the rocks showed black at low water
        """,
        "birds": "gulls | terns | cormorants | sandpipers | oystercatchers | swallows | jackdaws | curlews",
        "sound": """
            the cry of the gulls | the slap of water on wood | the creak of mooring ropes
            the bell on the buoy
            the drag of shingle | the knock of hulls | the horn from the point | the hiss of the ebb
        """,
        "smell": """
            salt and tar | seaweed | wet rope | fish smoke | drying nets | cold iron
            paint and turpentine
        """,
        "far": """
            the lighthouse on the point | the islands | the far side of the bay | the line of the horizon
            the ruined watchtower | the white cliffs to the east | the sandbars
        """,
    },
    "river": {
        "settlement": "river town | ferry village | mill town | village on a bend of the river",
        "land": """
            the towpath | the weir | the water meadows | the ferry landing | the stone bridge | the mill pond
            the island in the stream | the lock | the gravel bank | the boathouse | the ford | the osier beds
        """,
        "path": """
            the towpath | the lane by the weir | the bridge road | the track through the meadows
            the mill lane
            the footpath along the bank | the raised path between the willows | the cart road to the ford
        """,
        "view": """
            the river ran high and brown | a barge slid under the bridge | willows trailed in the current
            the mill wheel turned slowly | cattle stood in the shallows | mist lay along the banks
            the ferry hung in midstream | ducks gathered under the arches | the water shone between the reeds
        """,
        "birds": "herons | swans | moorhens | kingfishers | wagtails | ducks | swallows | coots",
        "sound": """
            the rush of the weir | the splash of oars | the grinding of the mill | the bargeman's horn
            the drip of the lock gates | the murmur of the current | the thump of the ferry against its stage
        """,
        "smell": """
            river mud | wet grass | wild mint | damp flour | willow bark | waterlogged wood | cut reeds
        """,
        "far": """
            the far bank | the poplars beyond the meadows | the next bend of the river | the downs
            the brick kilns
            the spire across the water | the old aqueduct
        """,
    },
    "hills": {
        "settlement": "hill village | market town in the uplands | hamlet under the ridge | sheep town",
        "land": """
            the upper pasture | the sheepfold | the quarry | the ridge | the drystone wall | the tarn
            the scree
            the high gate | the shepherd's hut | the peat cutting | the old mine
            the windy corner by the cairn
        """,
        "path": """
            the drove road | the path over the ridge | the quarry track | the mule track
            the lane to the fold
            the steep street | the green road | the path beside the beck | the switchback under the crags
        """,
        "view": """
            the sheep moved slowly across the slope | cloud shadows crossed the valley | the beck ran white
            smoke rose straight from the chimneys | the ridge stood sharp against the sky
            a hawk hung over the crags
            the walls climbed the hill like stitches | the bracken covered the lower slopes
        """,
        "birds": "larks | ravens | curlews | plovers | buzzards | wheatears | pipits | rooks",
        "sound": """
            the bleating of lambs | the wind in the gap | the clink of the quarry | the bark of a sheepdog
            the water in the beck | the bell of the lead ewe | the clatter of a loose stone
        """,
        "smell": "peat smoke | wet wool | heather | cold stone | sheep dip | sun on bracken | thyme and turf",
        "far": """
            the snow on the high tops | the blue line of the moor | the next valley | the pass
            the distant plain
            the cairn on the summit | the lead miners' chimney
        """,
    },
    "forest": {
        "settlement": "forest village | clearing town | woodcutters' village | settlement among the oaks",
        "land": """
            the clearing | the charcoal hearths | the sawpit | the beech avenue
            the spring under the oaks | the glade
            the hollow tree | the nursery of young firs | the deer fence | the timber yard | the mossy bank
        """,
        "path": """
            the timber road | the ride between the beeches | the deer path | the old charcoal track
            the forest road
            the path to the spring | the sunken lane | the log road across the bog | the bridle path
        """,
        "view": """
            the light fell in pieces between the trunks | fallen leaves covered the ride
            smoke hung above the hearths
            a deer stood at the edge of the glade | the logs lay stacked by length
            ferns grew to the height of a man
            the tops of the pines moved together | ivy had closed over the old wall
        """,
        "birds": "jays | woodpeckers | owls | wood pigeons | nuthatches | thrushes | wrens | crossbills",
        "sound": """
            the stroke of an axe | the rasp of the saw | the tapping of a woodpecker | the sigh of the pines
            the fall of a branch | the call of an owl | the creak of a timber cart | the drip of leaves
        """,
        "smell": "pine resin | leaf mould | fresh sawdust | wood smoke | wet moss | mushrooms | bruised fern",
        "far": """
            the edge of the trees | the blue gap at the end of the ride | the forester's tower
            the hills beyond
            the oldest of the oaks | the far plantation
        """,
    },
    "marsh": {
        "settlement": """
            marsh village | island village in the fen | reed cutters' village | town on the levels
        """,
        "land": """
            the dyke | the reed beds | the eel traps | the windpump | the duck pond | the plank bridge
            the sluice
            the causeway | the peat diggings | the mere | the flooded meadow | the punt landing
        """,
        "path": """
            the dyke path | the causeway | the plank road | the drove across the levels
            the track by the sluice
            the cart road to the windpump | the bank of the long drain | the path between the reed stacks
        """,
        "view": """
            the reeds leaned all one way | the sails of the windpump turned | a punt slid along the drain
            mist stood on the levels | the mere lay like a sheet of tin | the cattle grazed along the bank
            bundles of reed stood drying | geese crossed in a long uneven line
        """,
        "birds": "geese | bitterns | snipe | lapwings | teal | marsh harriers | herons | warblers",
        "sound": """
            the boom of a bittern | the rattle of the reeds | the creak of the windpump
            the croaking of frogs
            the splash of a pole | the rush of water at the sluice | the clamour of the geese
        """,
        "smell": "peat | standing water | cut reed | bog myrtle | eel smoke | wet thatch | meadowsweet",
        "far": """
            the church on its island | the line of poplars | the sea bank | the last windpump | the open mere
            the low hills to the north
        """,
    },
}

SEASONS: Final[dict[str, dict[str, str]]] = {
    "spring": {
        "season": "spring",
        "season_next": "summer",
        "fair": """
            the sky had cleared after a week of showers | a mild wind was drying the lanes
            the sun had some warmth in it at last | small white clouds were moving quickly
            the air was soft and bright | a clean light lay over the roofs
        """,
        "wet": """
            a light rain was falling | showers came and went | the gutters were running
            the wind threw rain at the glass
            a grey drizzle hid the fields | the lanes were deep in mud
        """,
        "plants": """
            primroses | young nettles | catkins | cowslips | violets | apple blossoms | new leaves
            blackthorn flowers
            daffodils | wood anemones | marsh marigolds | bluebells
        """,
        "chore": """
            turned over the bean rows | whitewashed the dairy | mended the fences | aired the bedding
            sowed the peas
            cleaned the well | swept the chimneys | limed the orchard | drove the cattle out
            pruned the pears
        """,
        "sign": """
            the swallows had come back | the first lambs had been born | the ice was long gone from the pond
            the hedges were turning green | the days were growing longer | the frogs had begun to call
        """,
    },
    "summer": {
        "season": "summer",
        "season_next": "autumn",
        "fair": """
            the heat lay heavily on the roofs | the sky was white with heat
            there was hardly a breath of wind
            the dust hung over the road | a dry breeze stirred the curtains | the whole valley smelled of hay
        """,
        "wet": """
            a warm rain had begun | thunder muttered a long way off | the first drops fell as large as coins
            a storm had flattened the barley | the rain came down in ropes | steam rose from the wet cobbles
        """,
        "plants": """
            poppies | dog roses | tall grasses | harebells | thistles | ripe currants | ox-eye daisies
            foxgloves
            elder flowers | brambles in flower | cornflowers | wild strawberries
        """,
        "chore": """
            cut the hay | picked the currants | watered the seedlings | sheared the last of the sheep
            tarred the roof
            cleaned the hives | carried water to the beans | scythed the verges | painted the shutters
            dug the drains
        """,
        "sign": """
            the hay was nearly in | the nights were short and pale | the well had dropped by a yard
            the bees worked until dusk | the children went barefoot | the corn was beginning to turn
        """,
    },
    "autumn": {
        "season": "autumn",
        "season_next": "winter",
        "fair": """
            the sky was high and pale | a thin sun shone on the stubble | the air was as clear as glass
            the mist had burned away | a steady wind was bringing down the leaves
            the light had turned yellow
        """,
        "wet": """
            fog stood at the ends of the streets | a cold rain was falling | wet leaves covered the steps
            the wind had gone round to the north | water stood in the ruts | the clouds lay on the hills
        """,
        "plants": """
            blackberries | rose hips | toadstools | bare hazels | acorns | sloes | dry ferns | rowan berries
            crab apples | fallen pears | seed heads | late daisies
        """,
        "chore": """
            stored the apples | smoked the hams | raked the leaves | stacked the firewood
            brought in the onions
            pressed the cider | ploughed the stubble | dipped the candles | salted the fish
            patched the thatch
        """,
        "sign": """
            the swallows had gone | the evenings were drawing in | the first frost had blackened the beans
            the barns were full | the geese were flying over | the leaves were coming down
        """,
    },
    "winter": {
        "season": "winter",
        "season_next": "spring",
        "fair": """
            the frost had not lifted all day | the sky was a hard, clear blue | the snow squeaked underfoot
            a low sun shone along the street | the ponds were frozen to the edge
            every twig was white with rime
        """,
        "wet": """
            snow was falling in large slow flakes | sleet blew along the street
            the thaw had begun in the night
            a bitter wind drove the rain | the roads were closed by drifts | the slush froze and thawed again
        """,
        "plants": """
            ivy leaves | holly berries | bare elms | snowdrops | frozen reeds | brown sedges
            sprigs of mistletoe | dead nettles
            old thistles | leafless hawthorns | mosses | clipped yews
        """,
        "chore": """
            cleared the snow from the step | carried in the logs | broke the ice on the trough
            mended the harness
            fed the cattle by lantern | oiled the tools | sorted the seed | spun the last of the wool
            cut the holly
        """,
        "sign": """
            the days were at their shortest | the pump had frozen twice | the stores were holding out
            the rooks stayed close to the houses | the mail was late again | the lamps were lit by four
        """,
    },
}

DAY_PARTS: Final[dict[str, dict[str, str]]] = {
    "morning": {
        "part": "morning",
        "when": """
            early in the morning | soon after breakfast | when the shutters had been opened
            at the first bell
            before the street was awake | an hour after sunrise | when the milk had been brought in
            as soon as it was light | while the kettle was coming to the boil
        """,
        "light": """
            the early light | the first sun | the pale morning | the light from the east window
            the thin daylight
        """,
    },
    "afternoon": {
        "part": "afternoon",
        "when": """
            early in the afternoon | when dinner had been cleared away | a little after noon
            at about three o'clock
            in the slow middle of the day | as the shadows began to lengthen | when the school let out
            on the stroke of two | while the street dozed
        """,
        "light": """
            the flat light of noon | the afternoon sun | the slanting light | the light on the wall
            the long shade
        """,
    },
    "evening": {
        "part": "evening",
        "when": """
            toward evening | when the lamps were lit | after supper | at dusk | when the last cart had gone by
            as the light was going | an hour before bedtime | when the birds had settled
            at the closing of the shops
        """,
        "light": """
            the last of the light | the lamplight | the glow of the fire | the dusk
            the light of one candle
        """,
    },
}

TRADES: Final[dict[str, dict[str, str]]] = {
    "weaver": {
        "craft": "weaving",
        "room": "the loom room",
        "tool": "shuttle | loom | spindle | comb | reed hook | bobbin | warping board",
        "material": "flax | grey wool | blue yarn | linen thread | undyed fleece | silk from the peddler",
        "product": "shawls | blankets | table runners | bolts of plain cloth | winter scarves | aprons",
        "did": "tied up the warp | wound the bobbins | mended a broken thread | unrolled the finished cloth",
        "do": "thread the loom | count the warp | card the wool | finish the border | match the blue",
    },
    "potter": {
        "craft": "pottery",
        "room": "the pottery",
        "tool": "wheel | kiln | rib | sponge | cutting wire | glaze brush | trimming knife",
        "material": "red clay | river clay | white slip | wood ash | ground flint | green glaze",
        "product": "jugs | bowls | butter crocks | tiles | tall jars | cups without handles | candle holders",
        "did": "wedged a lump of clay | threw a row of bowls | stoked the kiln | set the jugs out to dry",
        "do": "center the clay | pack the kiln | stir the glaze | trim the bases | wait for the kiln to cool",
    },
    "baker": {
        "craft": "baking",
        "room": "the bakehouse",
        "tool": "oven | peel | rolling pin | dough trough | sieve | scraper | proving basket",
        "material": "rye flour | barley meal | yeast | coarse salt | butter | dried fruit | sour dough",
        "product": "round loaves | seed cakes | oat biscuits | plaited rolls | pies | flat breads | buns",
        "did": "kneaded the dough | raked out the oven | shaped the rolls | dusted the boards with flour",
        "do": "feed the leaven | heat the oven | weigh the flour | glaze the buns | set the dough to rise",
    },
    "carpenter": {
        "craft": "carpentry",
        "room": "the workshop",
        "tool": "plane | chisel | mallet | bow saw | marking gauge | bench | auger",
        "material": "seasoned oak | pine boards | ash poles | walnut | elm planks | larch",
        "product": "chairs | window frames | doors | cradles | blanket chests | shelves | stools",
        "did": "planed the edge of a board | cut the last tenon | swept up the shavings | glued the joints",
        "do": "fit the drawer | sharpen the chisels | square the frame | season the oak | peg the joints",
    },
    "beekeeper": {
        "craft": "beekeeping",
        "room": "the honey house",
        "tool": "smoker | hive tool | veil | skep | straining cloth | honey knife | feeder",
        "material": "beeswax | clover honey | straw for the skeps | heather honey | pine frames",
        "product": "jars of honey | candles | blocks of wax | honeycombs | bottles of mead | polish",
        "did": """
            lifted the lid of a hive | watched the bees come and go | strained the honey
            smoked the skeps
        """,
        "do": """
            catch the swarm | clean the frames | melt the wax | weigh the hives
            move the skeps to the heather
        """,
    },
    "bookbinder": {
        "craft": "bookbinding",
        "room": "the bindery",
        "tool": "sewing frame | bone folder | press | awl | paring knife | gilding iron | backing hammer",
        "material": "calfskin | rag paper | linen thread | marbled paper | wheat paste | gold leaf",
        "product": "hymnals | ledgers | sketchbooks | almanacs | prayer books | old atlases | diaries",
        "did": """
            sewed the sections together | pared the leather | turned the screw of the press
            cut the boards
        """,
        "do": "fold the sheets | round the spine | mix the paste | letter the cover | press the pages flat",
    },
    "clockmaker": {
        "craft": "clockmaking",
        "room": "the clock shop",
        "tool": "loupe | file | pair of tweezers | lathe | mainspring winder | oil pin | depth gauge",
        "material": "brass | spring steel | fine oil | enamel | silver wire | pear wood",
        "product": "wall clocks | pocket watches | hour bells | sundials | music boxes | kitchen timers",
        "did": "took the movement apart | laid out the wheels | set the pendulum swinging | filed a tooth",
        "do": "oil the pivots | hang the weights | balance the wheel | clean the dial | listen to the beat",
    },
    "gardener": {
        "craft": "gardening",
        "room": "the potting shed",
        "tool": "spade | hoe | dibber | watering can | pruning knife | wheelbarrow | rake",
        "material": "leaf mould | seed trays | bone meal | hazel sticks | straw | potting soil",
        "product": """
            seedlings | cut flowers | early lettuces | grafted pears | herbs in pots | hedging plants
        """,
        "did": "pricked out the seedlings | tied in the roses | turned the compost | edged the lawn",
        "do": "stake the beans | graft the pears | thin the carrots | cut back the hedge | save the seed",
    },
    "shepherd": {
        "craft": "shepherding",
        "room": "the lambing shed",
        "tool": "crook | pair of shears | whistle | hurdle | branding iron | lantern | feed trough",
        "material": "raw fleece | hay | hurdle stakes | wool grease | turnips | salt for the flock",
        "product": "fleeces | spring lambs | rounds of ewe's cheese | sheepskins | crooks | bales of wool",
        "did": """
            counted the flock | moved the hurdles | dressed a lame foot | carried a lamb down to the fold
        """,
        "do": """
            bring down the ewes | mend the fold | shear the wethers | look over the lambs
            call in the dog
        """,
    },
    "blacksmith": {
        "craft": "smithing",
        "room": "the forge",
        "tool": "hammer | anvil | pair of bellows | pair of tongs | swage | vice | quenching trough",
        "material": "bar iron | charcoal | scrap steel | horseshoe nails | borax | wrought iron",
        "product": "gate hinges | horseshoes | ploughshares | fire irons | railings | hooks | knives",
        "did": "drew the bar from the fire | beat out a hinge | quenched the blade | pumped the bellows",
        "do": "shoe the grey mare | draw out the iron | bank the fire | temper the edge | punch the holes",
    },
    "mapmaker": {
        "craft": "mapmaking",
        "room": "the drawing room",
        "tool": "compass | ruling pen | measuring chain | set square | theodolite | magnifying glass | brush",
        "material": "heavy paper | brown ink | vellum | blue wash | tracing linen | notes from the field",
        "product": "estate maps | charts | road books | town plans | field sketches | globes",
        "did": """
            inked the line of a stream | lettered the names of the farms | checked the bearings
            ruled a margin
        """,
        "do": """
            plot the angles | shade the hills | pace out the boundary | copy the survey
            wash in the water
        """,
    },
    "glassblower": {
        "craft": "glassblowing",
        "room": "the glasshouse",
        "tool": "blowpipe | furnace | pair of jacks | marver | shears | punty | wooden block",
        "material": "fine sand | soda ash | broken glass | cobalt | lime | lead crystal",
        "product": "goblets | lamp chimneys | green bottles | window panes | fishing floats | bowls",
        "did": "gathered the molten glass | turned the pipe | opened the lip of a jar | cracked off a bottle",
        "do": "charge the furnace | roll the gather | cool the pieces | cut the panes | grind the rims",
    },
    "boatbuilder": {
        "craft": "boatbuilding",
        "room": "the boat shed",
        "tool": "adze | caulking iron | steam box | spokeshave | clamp | plumb line | tar brush",
        "material": "larch planks | copper rivets | oakum | pitch | bent ribs of ash | canvas",
        "product": "skiffs | punts | dinghies | oars | ferry boats | masts | rudders",
        "did": "bent a plank around the ribs | caulked a seam | set the keel | sanded the gunwale",
        "do": "steam the ribs | tar the bottom | fair the planks | step the mast | drive the rivets",
    },
    "printer": {
        "craft": "printing",
        "room": "the print shop",
        "tool": "press | composing stick | brayer | type case | galley | proof roller | paper knife",
        "material": "black ink | laid paper | lead type | woodcuts | linseed oil | card",
        "product": "handbills | almanacs | ballads | wedding notices | seed catalogues | hymn sheets",
        "did": "set a line of type | inked the forme | hung the sheets to dry | pulled a proof",
        "do": "sort the type | lock up the page | wash the rollers | read the proofs | cut the paper",
    },
    "basket maker": {
        "craft": "basket making",
        "room": "the willow shed",
        "tool": "bodkin | rapping iron | billhook | soaking trough | cleave | pair of shears | lap board",
        "material": "white willow | brown willow | split hazel | rushes | cane | peeled bark",
        "product": "log baskets | eel traps | cradles | hampers | trays | fish creels | chair seats",
        "did": "soaked the willow | bent up the stakes | wove the border | trimmed the ends",
        "do": "sort the rods | strip the bark | start the base | finish the handle | cut the osiers",
    },
    "cheesemaker": {
        "craft": "cheesemaking",
        "room": "the dairy",
        "tool": "vat | curd knife | press | skimmer | milk pail | muslin | ripening board",
        "material": "ewe's milk | rennet | coarse salt | cream | whey | ash for the rinds",
        "product": "hard cheeses | curd tarts | butter | soft cheeses in leaves | rounds for the fair",
        "did": "cut the curd | drained the whey | turned the cheeses | salted the rinds | scalded the pans",
        "do": "warm the milk | press the curd | skim the cream | wrap the rounds | rub the rinds",
    },
}

# What a paragraph is about, with the frames that open it, carry it, break it up and close it. The slots
# `hero`, `friend` and `place` hold
# for a chapter, as do the few people and places that `someone` and `elsewhere` are dealt from; `who`, `dest`,
# `civic_here` and `item` hold for one paragraph, and `stranger` for one sentence.
PARAGRAPHS: Final[dict[str, dict[str, str]]] = {
    "place": {
        "open": """
            {place} was a {settlement} of some {few} houses, most of them built of {built_of}.
            There were two ways into {place}, and most people came by {path}.
            Nobody could say how old {place} was, though {person} claimed to have seen it on a map from \
{elsewhere}.
            Travellers from {elsewhere} usually saw {far} first, and only afterward the roofs of {place}.
            The {settlement} of {place} lay between {land} and {land}, out of the wind.
            In the {season}, {place} smelled of {smell}, and strangers noticed it at once.
            {place} had changed very little in {age}, and its people were rather proud of that.
            It was a walk of half a day from {elsewhere} to {place}, and the best of it was {path}.
        """,
        "body": """
            The houses were built of {built_of}, and their doors were {colour} or {colour}.
            {^civic} stood a little apart, with its {building_part} of {built_of} turned toward {land}.
            From {land} one could see {far} and, on a clear day, the roofs of {elsewhere}.
            {^sound} could be heard from {civic} to {land}.
            In one window stood a {thing}, and in the next a row of {things}.
            The oldest house, which belonged to {someone}, had a {building_part} of {built_of}.
            There was one {trade_any}, one {trade_any} and, since the previous {season}, one {trade_any}.
            The lane behind {civic} led down to {land}, where {view}.
            Most families lived by {craft} or by selling {product} to the merchants of {elsewhere}.
            On market days the carts from {elsewhere} stood in a line from {civic} to {spot}.
            Some said that {civic} had been built by {stranger}, and others that it had been there before \
{place} itself.
            The people of {place} spoke slowly, and they distrusted anyone who praised {elsewhere} too warmly.
            Behind {civic} there was a yard where {person} kept {things} and a {fur} dog.
            {^birds} nested every year under the {building_part} of {civic}.
            Whoever came by {path} passed {spot} first, and then the house of {someone}.
            What the place lacked in comfort it made up for in {grocery}, {grocery} and good neighbours.
            The school had {few} pupils, the chapel had a {adj_obj} bell, and the inn had {trait_inn}.
        """,
        "short": """
            Everyone knew {someone}, of course.
            There was no {trade_any} nearer than {elsewhere}.
            The {grocery} were better than at {elsewhere}.
            Few people owned a {thing}.
            Who needed {things}?
            {^elsewhere} was richer, but not by much.
        """,
        "close": """
            It was not a rich place, but {virtue} and {virtue} could usually be found there.
            {hero} had lived in it for {age} and had never wished to live at {elsewhere}.
            Was there anything at {elsewhere} that could not be found between {civic} and {land}?
            Visitors seldom stayed longer than {stay}, but they remembered {sound} and the {adj_obj} {obj} \
at the inn.
            For {hero}, who had come there from {elsewhere}, it was enough.
        """,
    },
    "introduction": {
        "open": """
            Among those who lived there was {hero_full}, a {trade} by trade and by temper.
            {hero_full} had come to {place} from {near} as a young {person_word} and had stayed.
            If anyone at {place} wanted {product}, they went to {hero_full}.
            The {trade} at {place} in those years was called {hero_full}.
            {hero_full}, the {trade}, had {room} on the lane that led from {civic} to {land}.
        """,
        "body": """
            {^he} was {adj_person_one} and {adj_person_one}, and had {trait}, which surprised people from \
{elsewhere}.
            {^he} had learned {craft} from {someone}, and {virtue} from nobody in particular.
            {^his} best friend was {friend}, the {friend_trade}, who had {trait} and a {fur} dog.
            In {room} there was a {tool}, a {thing} and always some {material}.
            {^he} was not often seen at {elsewhere}, although {his} {product} were sold there every {season}.
            Before that {he} had helped {someone}, the {trade_any}, for as long as it took to learn {learned}.
            Every {part} {he} {habit}, whatever {person} might say about it.
            {^he} had been offered better rooms at {elsewhere}, next door to {a_person_plain}, and had \
declined.
            When people asked why {he} had never left, {he} would say that {proverb}.
            Of {his} family only {someone} was left, who lived at {elsewhere} and sent {grocery} in the \
{season}.
        """,
        "short": """
            {^he} owned a {thing} and two {things}.
            {^he} was fond of {grocery}.
            {^he} had never been to {elsewhere}.
            {^someone} had taught {him} {learned}.
            {^he} lent {someone} a {thing} every {season}.
        """,
        "close": """
            {^he} and {friend} had known each other since {occasion}, and had disagreed about {worry_plain} \
ever since.
            It was a quiet life, with {craft} in it, and {grocery}, and now and then {feast}.
            Would it have been different if {he} had gone to {elsewhere} with {someone}?
            Such, at any rate, was the opinion of {friend}, who had known {him} for {age}.
        """,
    },
    "weather": {
        "open": """
            {^when}, {weather_now}, and {view}.
            That {part} {weather_now}, and the people of {place} kept close to {civic}.
            {^weather_now} when {hero} looked out, and {sound} seemed very near.
            By the time {hero} reached {land}, {light} had changed and {weather_now}.
            It was the kind of {season} day that {someone} used to call a gift to {trade_any_pl}.
            There had been talk at {civic} of a change in the weather, and that {part} it came.
        """,
        "body": """
            {^view}, and {birds} called from {land}.
            The {building_part} of {civic} was wet on one side and dry on the other.
            {^light} lay across {land} and touched {far}.
            {^person} looked up at the sky, shrugged, and carried the {things} indoors.
            {^sign}, and everyone at {place} had begun to speak of {season_next}.
            Beyond {land} the air was so still that {sound} carried as far as {civic}.
            The {things} in front of the {trade_any}'s shop had been covered with sacking.
            Along {path} one saw {plants} and, closer to the ground, {plants}.
            {^animal} had found shelter by {spot} and refused to move for {person}.
            {^someone} said that it had been just the same in the year of {bygone}.
            Would it hold until {occasion}, or would the wind go round before the week was out?
            According to {person}, such weather was good for {grocery} and bad for {grocery}.
            {^hero} stood at {spot} {span} and watched the {birds} above {land}.
            There was a smell of {smell}, which always grew stronger before a change of wind.
            The smoke from {civic} leaned toward {far} and then went straight up.
            Even {person}, who complained of every {season}, had nothing to say against it.
        """,
        "short": """
            {^view}.
            {^birds} called from {land}.
            {^someone} brought in the {things}.
            Would the {grocery} suffer?
            The {things} were already wet.
            {^sound} stopped, and began again.
        """,
        "close": """
            Nobody at {place} was {feeling_plain} to see the {part} go by so quietly.
            After that there was nothing to do but wait, and {hero} {chore} while {small_event}.
            {^hero} thought of {worry} and then, since nothing could be done, of {dish}.
            It would be remembered, if at all, as the day when {person} lost a {thing} near {land}.
            By the next bell {small_event}, and the weather was forgotten.
        """,
    },
    "work": {
        "open": """
            {^when}, {hero} went into {room} and {did}.
            {^hero} had been a {trade} for {age}, and {room} had taken on the shape of {his} habits.
            There was plenty to do in {room} that {part}, for {someone} had ordered {product} and a {thing}.
            {^craft} is slow work, and {hero} liked it best when {small_event} and nobody hurried {him}.
            In {room} the {tool} lay where {hero} had left it, beside a {thing} and some {material}.
            {^hero} had promised the {product} to {someone} of {elsewhere} before {occasion}.
            To be a {trade} at {place}, {hero} used to say, one needed {virtue}, {virtue} and a good {tool}.
        """,
        "body": """
            {^he} {did}, reached for the {tool} and began again {manner}.
            First {he} {did}; then, when {small_event}, {he} had to stop and {do}.
            The {tool} had belonged to {someone}, who had brought it from {elsewhere} in a {thing}.
            {^material} had to be sent for from {elsewhere}, and the quality was never quite the same twice.
            "{^proverb}," {someone} used to say, holding up the {tool}.
            On the shelf above the {tool} stood {things}, a {thing} and a jar of {material}.
            {^light} fell on the {tool} and on the {adj_obj} {obj} beside it.
            It took {him} until the bell of {civic} to {do}, and then the {tool} needed cleaning.
            {^he} worked {manner}, and only {sound} told {him} how the {part} was passing.
            The {product} for {someone} were nearly done, except for the {detail}.
            Who at {elsewhere} would notice whether the {detail} were perfect or merely good?
            While {he} {did}, {person} came in to ask about {product} and stayed to talk about {grocery}.
            When {person} asked how long it took to {do}, {he} only pointed to the {adj_obj} {tool}.
            {^he} had learned from {someone} to {do} before {feast} and never after it.
            A good {tool}, as {person} once remarked, is more faithful than a {thing}.
            There was no sound in {room} except {sound} and the small noise of the {tool}.
            {^he} set aside two of the {product}, which had faults that only a {trade} would see.
            An apprentice from {elsewhere} would have tried to {do} at once, but {hero} waited.
            Since {material} cost so much that {season}, {he} used every scrap and kept the rest in a {thing}.
        """,
        "short": """
            {^he} {did}.
            The {tool} slipped, but only once.
            {^someone} could wait for the {product}.
            What would {someone} say of the {detail}?
            It was time to {do}.
            {^he} put the {tool} beside the {thing}.
            Nothing in {room} was ever wasted, not even {material}.
        """,
        "close": """
            When the work was done, {he} wiped the {tool}, hung it up and {chore}.
            {^he} was {feeling} when {he} closed {room}, and {he} could not have said why.
            Before {he} locked the door {he} looked once more at the {product}, and was almost {feeling}.
            By the end of the {part} the {product} for {someone} stood ready by the door, in {things}.
            That, {he} supposed, was what {someone} had meant by {virtue}.
        """,
    },
    "portrait": {
        "open": """
            {who} was {a_person_plain} who had come to {place} from {elsewhere} with {carried_plain}.
            Everyone at {place} knew {who}, the {trade_any}, by {his} {trait_short}.
            {who} the {trade_any} lived alone behind {civic}, in a house built of {built_of}.
            Of all the neighbours, {who} was the one whom {hero} understood least and liked best.
            Nobody remembered when {who} had first come to {place}, but {he} had been the {trade_any} for \
{age}.
            {who}, who kept the house by {civic}, was known as far as {elsewhere} for {his} {trait_short} \
and {his} {trait_short}.
        """,
        "body": """
            {^he} had {trait}, {trait} and a coat that was {colour} at the elbows.
            Every {part} {he} {habit}, and then {he} {habit}.
            In {his} youth {he} had worked for {stranger} at {elsewhere} and learned {learned}.
            {^he} spoke often of {elsewhere}, where there had been {a_person_plain} who taught {him} \
{learned}.
            Above {his} door hung a {thing}, which {he} had won from {stranger} in a wager about {grocery}.
            {^his} {kin_plain}, {stranger}, had married the {trade_any} at {elsewhere} and seldom wrote.
            "{^proverb}," {he} would say, and then {he} would change the subject.
            When {he} laughed, which was not often, {animal} would get up and leave the room.
            {^he} kept {things} in the hall, a {thing} in the kitchen and {grocery} under the bed.
            Once, in the year of {bygone}, {he} had walked from {elsewhere} to {place} in a single night.
            Children liked {him} because {he} {habit} and never asked them about school.
            What {he} thought of {person}, {he} kept to {himself}.
            {^he} owed {person} a {thing}, and {person} owed {him} a basket of {grocery}.
            It was said that {gossip}, but {he} neither confirmed it nor denied it.
            Though {he} was no longer young, {he} still {habit} whenever {feast} came round.
            {^he} had quarrelled only once in {his} life, with {stranger}, over a {thing} and some {grocery}.
            On the wall of {his} parlour there was a picture of {far_plain}, painted by {stranger} of \
{elsewhere}.
            If anyone praised {elsewhere} in {his} hearing, {he} would mention {trait_short_2} and leave it \
at that.
        """,
        "short": """
            {^he} disliked {grocery}.
            {^he} never mentioned {stranger}.
            Who could blame {him} for the {thing}?
            {^his} {thing} was famous at {elsewhere}.
            {^he} {habit}.
            {^he} trusted {someone}, and nobody else.
        """,
        "close": """
            {^hero} had once asked {him} about {elsewhere}, and the answer had lasted until {small_event}.
            How {he} had come by such {trait_short}, not even {stranger} could say.
            With such a neighbour, {hero} used to say, one hardly needed a {thing} or a {trade_any}.
            In the end people forgave {him} for {trait_short_2}, since {he} had once lent {stranger} a \
{thing}.
            All the same, {he} was missed at {occasion}, and {person} asked after {him} twice.
        """,
    },
    "house": {
        "open": """
            The house where {hero} lived stood beside {civic}, and its {building_part} faced {land}.
            {^hero} rented two rooms from {someone}, above the shop of {a_person_trade}.
            The kitchen was the only warm room in the house, and {hero} spent most of the {season} there.
            Every house at {place} has its own noises, and {hero} knew all of those that belonged to {his} \
own.
            {^when}, {hero} opened the window and let in {sound}.
            The house had been left to {hero} by {someone}, together with {things} and a {thing}.
        """,
        "body": """
            On {furniture} there was a {thing}, and next to it lay {things}.
            The curtains, which were {colour}, had been a gift from {someone} of {elsewhere}.
            Beside {furniture} hung a picture of {elsewhere} in a {adj_obj} frame.
            {^light} came in as far as {furniture} and rested on a {thing}.
            {^animal} usually slept on {furniture}, between a {thing} and a pile of {things}.
            One stair creaked, one window stuck, and {furniture} had never stood quite level since {occasion}.
            There was always a smell of {smell} about {furniture}, whatever {hero} did.
            {^furniture} had come from {elsewhere} on a cart, and one corner of it still showed the mark of \
a {obj}.
            Why {someone} had painted {furniture} {colour}, nobody could now explain.
            {^he} kept {his} letters in a {thing}, {his} money in a {thing} and {grocery} in the cellar.
            Under {furniture} {he} had once found a {thing}, wrapped in a page of an old almanac.
            The walls were {colour}, or had been {ago_plain}, and the floor was of {floor}.
            Through the wall {he} could hear {someone}, who sang {tune} while the soup was cooking.
            From the upper window one saw {land}, {far} and a corner of {civic}.
            When the wind blew from {far}, {sound} came down the chimney.
            It pleased {him} that the {thing} stood exactly where {someone} had put it {ago_plain}.
            {^he} had meant for {age} to move {furniture}, but there was nowhere else for it to go.
        """,
        "short": """
            {^he} had never liked the {thing}.
            The {things} were always cold.
            {^someone} wanted the {thing} back.
            Whose were the {things}?
            The {thing} stayed where it was.
        """,
        "close": """
            It was not much of a house, but {fhe_friend} said that there was none at {elsewhere} so full of \
{virtue}.
            {^he} {chore}, put the {thing} back on {furniture} and was {feeling}.
            If {someone} had come in at that moment, {he} would have offered {dish} and the better chair.
            Somewhere outside {small_event}, and the house settled down again around {furniture}.
            {^he} sat down beside {furniture} and did not get up until {small_event}.
        """,
    },
    "journey": {
        "open": """
            {^when}, {hero} set out for {dest} with {carried}.
            The road to {dest}, which {hero} knew well, began at {civic} and followed {path} as far as {land}.
            It was {friend} who sent {hero} to {dest}, because {gossip_dest}.
            {^hero} had not been to {dest} for {age}, and the way seemed longer than before.
            There were two people besides {hero} in the cart to {dest}: {person} and {a_person_plain}.
            Since the bridge at {elsewhere} was closed, {hero} went to {dest} by way of {elsewhere}.
        """,
        "body": """
            At {elsewhere} {he} changed a {thing} for {things} and asked the way.
            They passed {a_person_plain} with {carried_plain}, who wished them {wish}.
            The first miles led along {path}, where {view}.
            {^sound} followed {him} as far as {land} and then fell away.
            Beyond {land} the country opened, and {far} came into sight.
            {^he} rested {span} beside {land} and ate bread with {grocery}.
            {^weather_now}, but the road was good, and {he} went on {manner}.
            At the crossroads stood an inn built of {built_of}, where {person} was selling {grocery}.
            A signpost pointed to {elsewhere} on one side and to {elsewhere} on the other.
            Along the verge grew {plants}, and {birds} rose from {land} as the cart went by.
            "How far is it to {dest}?" {he} asked {a_person_plain} at {elsewhere}.
            "You should have come by {elsewhere}," said {person}, and offered {him} a seat on a {adj_obj} \
{obj}.
            {^animal} trotted behind them from {elsewhere} to the next farm and then lost interest.
            The driver, whose name was {stranger}, talked the whole way about {worry_plain}.
            For an hour there was nothing to be seen but {land}, {plants} and the back of the driver.
            {^he} counted the milestones, forgot them at {elsewhere} and did not begin again.
            Did anyone still live in the house of {built_of} that stood alone by the road to {elsewhere}?
            A wheel came loose near {elsewhere}, and it was mended with {mended_with}.
        """,
        "short": """
            {^elsewhere} was still asleep.
            Was that {elsewhere} already?
            The inn at {elsewhere} was shut.
            Nobody spoke of {stranger}.
            {^birds} circled over {land}.
            At {elsewhere} they changed horses.
        """,
        "close": """
            It was growing late when the roofs of {dest} appeared, {colour} against {far}.
            {dest} turned out to be smaller than {he} remembered, but the inn still served {dish}.
            {^he} slept that night at the house of {stranger} and dreamed of {dream}.
            When {he} came home at last, {person} was waiting by {spot} with {carried}.
            Of the whole journey {he} remembered mostly {sound} and the {adj_obj} {obj} at {elsewhere}.
        """,
    },
    "market": {
        "open": """
            The market at {place} was held in front of {civic}, and that {part} it was unusually full.
            {^when}, the first stalls were set up between {civic} and {spot}.
            {^hero} went to the market for {grocery}, and came back with {carried}.
            On fair days people came to {place} from {elsewhere}, from {elsewhere} and even from {elsewhere}.
            {^friend} had taken a stall beside {civic} and was selling {product_friend}.
        """,
        "body": """
            {^someone} of {elsewhere} was selling {grocery}, {grocery} and a few {things}.
            Next to the {grocery} sat {a_person_plain} with a {thing} and a {adj_obj} parasol.
            "They are the best {objs} between here and {elsewhere}," said {someone}, and nobody \
contradicted it.
            The price of {grocery} had risen since {occasion}, and {person} spoke of little else.
            {^hero} bargained {span} for a {thing} and in the end paid what {someone} had asked.
            A boy was holding {animal} by a string and crying his {grocery} in a high voice.
            Two women from {elsewhere} were comparing {grocery} with the air of judges.
            There were {things} on the ground, {things} on the wall and {things} hanging from a pole.
            {^person} had brought {product} from {elsewhere}, wrapped in straw and old newspapers.
            Somebody played {tune}, and {animal} lay down in front of the player.
            Who would buy a {thing} without a handle, or {things} that had been through a flood?
            Between the stalls it smelled of {smell}, of {grocery} and of hot bread.
            {^person} weighed the {grocery} {manner_plain} and added one for luck.
            Behind {civic} {someone} was showing a {thing} that could do the work of three people.
            The {trade_any} had sold all the {things} before noon and was asleep against {spot}.
            A dispute broke out over a {thing}, and {a_person_plain} was called to settle it.
            It was rumoured that {gossip}, and the rumour went from stall to stall with the change.
            {^hero} tried the {grocery}, praised the {grocery} and bought neither.
        """,
        "short": """
            The {grocery} went first.
            Nobody wanted the {things}.
            "How much is the {thing}?" asked {someone}.
            {^someone} was pleased with the {things}.
            The {grocery} were from {elsewhere}.
            {^hero} looked at a {thing}.
        """,
        "close": """
            When the stalls came down, nothing was left on the square but straw, a {thing} and {animal}.
            {^hero} went home by {path} with {carried} and {feeling_well} thoughts.
            It had been a better market than the one at {elsewhere}, everyone agreed, though the {grocery} \
were small.
            Before dark the last cart left for {elsewhere}, loaded with {things} and unsold {grocery}.
            At home {hero} put the {grocery} in a {thing} and wondered what had possessed {him} to buy the \
{things}.
        """,
    },
    "meal": {
        "open": """
            That {part} there was {dish} at the house of {someone}, and {hero} had been invited.
            {^hero} and {friend} ate together at the inn, where {person} brought them {dish}.
            {^when}, {hero} set the table for three and put {dish} on the stove.
            It was the custom at {place} to eat {dish} on the eve of {feast}.
            Nobody at {place} could make {dish} like {someone}, the {trade_any}'s {kin}.
        """,
        "body": """
            The {grocery} came from the garden of {someone}, and the {grocery} from {elsewhere}.
            There was {dish} to begin with, and after it {dish}.
            {^friend} took a second helping and said that it needed only a little {spice}.
            "My {kin_mine} made it with {grocery}," said {person}, "but {grocery} will do."
            The plates were {colour}, and no two of the {objs} matched.
            {^someone} told a long story about {elsewhere}, a {thing} and a stolen basket of {grocery}.
            They drank {drink} from {adj_obj} mugs and spoke of {worry_plain}.
            {^animal} waited under the table with great attention until {small_event}.
            Outside {weather_now}, but the kitchen smelled of {spice} and {grocery}.
            Somebody asked whether the rumour was true and whether {gossip}.
            {^hero} cut the bread {manner} and passed it to {person}.
            How many {grocery} could one reasonable person eat between {occasion} and the end of the week?
            A {thing} was handed round the table, and {someone} explained where it had been found.
            Between one course and the next, {friend} described {learned_topic} as it was done at {elsewhere}.
            The youngest guest, {someone}, fell asleep against a {thing} before the {grocery} were served.
            For a time nobody spoke, and there was only {sound} and the noise of the {adj_obj} spoons.
            {^person} had brought {grocery} in a {thing}, and everyone took one out of politeness.
        """,
        "short": """
            The {grocery} were excellent.
            "Are there any more {grocery}?" asked {someone}.
            Nobody refused the {grocery}.
            {^someone} asked for the {spice}.
            {^friend} praised the {grocery}.
        """,
        "close": """
            When the plates were empty, {friend} washed the {objs} and {hero} dried them.
            It was late before anyone spoke of going home, and then {small_event}.
            {^hero} carried what was left to {someone}, who lived by {civic} and rarely cooked.
            They agreed to meet again before {occasion}, and {person} promised to bring {grocery}.
            After such a meal {hero} was {feeling}, and {he} walked home by way of {land}.
        """,
    },
    "talk": {
        "open": """
            {^when}, {friend} came to the door of {room} with {carried}.
            {^hero} met {friend} by {spot}, and they stood talking while {small_event}.
            {^friend} was a {friend_trade}, and {fhe} never visited {room} without a piece of news.
            "{^ask}?" asked {friend}, who was sitting on {spot} with a {thing} on {fhis} knees.
            They walked together along {path}, {hero} with {carried} and {friend} with nothing at all.
        """,
        "body": """
            "{^say}," said {friend}.
            "{^say}," {he} said {aside}.
            "{^say}," {fhe} said {faside}.
            "{^ask}?" {he} asked {aside}.
            "{^ask}?" {fhe} asked {faside}.
            "{^say}," said {hero}, "and {say_low}."
            {^friend} looked at the {thing} and asked, "{^ask}?"
            "No," said {hero}, "but {say_low}."
            "Perhaps," said {friend}, "but {say_low}."
            {^he} considered this {span} and then remarked that {gossip}.
            {^fhe} had heard from {person} that {gossip}.
            "Then it is settled," {fhe} said, and moved a {thing} out of the way so that {animal} could pass.
            {^he} told {fhim} about {worry_plain}, and {fhe} listened without interrupting.
            "I heard at {civic} that {gossip_present}," said {friend}.
            They spoke of {elsewhere}, of {grocery} and of {worry_plain}, in that order.
            Neither of them mentioned {someone}, although the {thing} on {furniture} was a reminder.
            "You might try {grocery}," {fhe} suggested, "or ask {someone} for a {thing}."
        """,
        "short": """
            "It was not {someone}," said {hero}.
            {^fhe} put down the {thing}.
            "At {elsewhere}?" {he} asked {aside}.
            "{^someone} told me," said {friend}.
            {^he} laughed about the {thing}.
            "And the {things}?" {fhe} asked.
            {^friend} shook {fhis} head over the {things}.
            "I doubt it," {he} said {aside}.
        """,
        "close": """
            When {fhe} had gone, {hero} thought it over {span} and decided that {thought}.
            They parted at {spot}, as they always did, and {small_event}.
            "{^proverb}," said {friend}, and with that {fhe} picked up the {thing} and went home.
            {^hero} laughed, for {fhe} had said exactly the same before {occasion}.
            So nothing was decided, but both of them were {feeling_plural}, and {small_event}.
        """,
    },
    "memory": {
        "open": """
            {^hero} could still remember the {season} when {stranger} first came to {place} with \
{carried_plain}.
            As a child {hero} had spent every {season} at {dest}, in the house of {his} {kin_old}.
            {^when}, {hero} found a {thing} on {furniture}, and it brought back {dest}.
            Long ago, before {he} knew anything about {craft}, {hero} had wanted to become a {trade_any}.
            There was one day at {dest} that {hero} had never told anyone about, except {friend}.
        """,
        "body": """
            In those days {stranger} kept {things} in the hall and a {fur} dog in the yard.
            It was {stranger} who had taught {him} {learned}, one {season} when there was little else to do.
            {^he} remembered {sound_any}, the smell of {smell_any} and a {thing} that nobody was allowed to \
touch.
            The house at {dest} had been built of {built_of}, with a {building_part} that leaked every \
{season_next}.
            {^his} {kin_old} used to say that {proverb}, and usually {he} had been sent to bed soon afterward.
            They had eaten {dish} from {adj_obj} plates, and {stranger} had sung {tune}.
            {^stranger}, who was the {trade_any} at {dest}, had once let {him} hold the {thing}.
            Had the {thing} really been so {adj_size}, or had {he} only been small?
            There had been a quarrel about a {thing}, and after it {stranger} never came to {dest} again.
            Every child at {dest} had been afraid of {a_person_plain} who lived behind {civic}.
            {^he} had hidden a {thing} under {furniture}, and for all {he} knew it was there still.
            What had become of {stranger}, who could walk on {his_hands_objs} and whistle {tune}?
            On the last day {he} had been given a {thing}, and had left it at {elsewhere} on the way home.
            Nobody had told {him} then that {virtue} and {virtue} were not to be found everywhere.
            At {occasion} {he} had carried the {things} and dropped all but one of them.
            The winters had been colder, or so it seemed, and the {grocery} had certainly been larger.
            Sometimes {he} confused it with {elsewhere}, where there had also been a {thing} and a garden \
of {flower}.
        """,
        "short": """
            {^stranger} had only laughed.
            The {thing} was lost, of course.
            That was before {elsewhere}.
            {^he} could still have drawn the {thing}.
            Who had the {thing} now?
            There had been {grocery} every evening.
        """,
        "close": """
            All that was {age_past} ago, and the house at {dest} belonged to {a_person_plain} now.
            {^he} put the memory away, as one puts away a {thing}, and {chore}.
            {^friend} had heard the story of the {thing} many times and never asked {him} to shorten it.
            Perhaps it had not been like that at all, but {stranger}, who might have known, was dead.
            Then {small_event}, and {he} was back at {place}, with a {thing} in {his} hand.
        """,
    },
    "evening": {
        "open": """
            {^hero} sat by {furniture_seat} {span} and thought about {worry}.
            Nothing much had happened that {part}, and {hero} was {feeling}.
            {^when}, {hero} walked out as far as {land} and stood there {span}.
            There are hours when a {trade} would rather do anything than {do}, and for {hero} this was one \
of them.
            {^friend} had once told {hero} that {proverb}, and that {part} {he} was inclined to believe it.
        """,
        "body": """
            {^he} thought that {thought}.
            It seemed to {him} that {thought}, and that {someone} had known it long before.
            {^light} had reached {furniture}, and {small_event}.
            What would {someone} have done about {worry}?
            If {he} went to {elsewhere} before {season_next}, {he} could ask {someone} about {worry}.
            Somewhere beyond {land} {someone} was playing {tune}, rather badly, on a {instrument}.
            {^he} took up a {thing}, turned it over {manner} and set it down on {furniture}.
            {^sound} grew fainter, and after it came {sound}.
            {^he} had never been able to decide whether {virtue} mattered more than {virtue}.
            One could be {feeling_simple} without any reason, {he} thought, just as one could be \
{feeling_simple}.
            There was still the matter of {worry}, but it had waited since {occasion} and could wait longer.
            A moth went round the lamp, {animal_sound}, and {small_event}.
            {^he} counted over what {he} owed: a {thing} to {someone}, and to {someone} a basket of {grocery}.
            {^his} {kin_old}, who had known {elsewhere} well, would have said that {proverb}.
            Why should a {thing} on {furniture} make anybody {feeling_simple}?
            {^he} was not {feeling_simple}, exactly, but {he} kept hearing what {someone} had said about \
the {objs}.
            {^weather_now}, and from where {he} was {he} could make out the outline of {far}.
        """,
        "short": """
            {^someone} would know.
            The {thing} needed mending.
            Was it because of the {thing}?
            {^he} put down the {thing}.
            {^sound} had stopped.
            {^he} thought of {someone}.
        """,
        "close": """
            At last {he} got up, {chore_home} and put the {thing} where {he} would find it.
            {^he} slept well that night and dreamed of {dream}.
            Tomorrow {he} would have to {do}, and after that there would be {occasion} to think of.
            Then {small_event}, and {he} decided that {thought}.
            Whatever {someone} might say, it was enough for one day, and {he} went home by {path}.
        """,
    },
    "letter": {
        "open": """
            That {part} a letter came for {hero} from {who} at {dest}.
            {^hero} had been meaning to write to {who} since {occasion}, and {when} {he} began at last.
            The letter from {dest} had been a week on the road, and one corner of it smelled of {smell_any}.
            {who}, who had left {place} for {dest} in the {season}, wrote seldom but at length.
            {^person} brought the mail up from {land} with {carried}, and among it was a letter from {who}.
        """,
        "body": """
            At {dest}, it appeared, {gossip}.
            {who} had taken a room with {a_person_plain} and was learning {learned}.
            There followed half a page about {grocery}, which were dear at {dest} and not very good.
            "You would like {stranger}," the letter went on, "who has {trait} and keeps a {thing} by the \
door."
            Between the pages lay a pressed flower and a drawing of a {thing}.
            "I think of {place} whenever I see a {thing}," wrote {who}, "or hear {sound}."
            The ink was {colour}, and in the margin somebody had added a few words about {occasion}.
            Would {hero} be so kind as to send {things} and the {adj_obj} {obj} from {furniture}?
            {^hero} read the part about {stranger} twice, because it seemed to say that {gossip}.
            "Tell {friend}," wrote {who}, "that {say_low}."
            There was some news of {stranger}, who had gone to {elsewhere} and become a {trade_any}.
            One passage, about a {thing} and {a_person_plain}, had been crossed out with care.
            {^friend} wanted to know whether {who} had said anything about {worry_plain}.
            In reply {hero} described {occasion}, the price of {grocery} and the state of {civic}.
            The handwriting leaned to the left wherever {elsewhere} was mentioned.
            {who} asked after {stranger}, after {stranger} and, at the very end, after the {adj_obj} {obj}.
            "It rains a good deal here," the letter said, "and they eat {dish} every {weekday}."
        """,
        "short": """
            {^stranger} was well.
            The {thing} had been broken on the way.
            There was no word of {stranger}.
            {^elsewhere} had been a disappointment.
            "Burn the {things}," the letter said.
            What did {who} want with {things}?
        """,
        "close": """
            {^hero} folded the letter, put it in a {thing} and {chore}.
            The letter ended in the middle of a sentence about {grocery}, as though {who} had been called \
away.
            By the time an answer reached {dest}, {occasion} would be over and the {plants} gone.
            {^hero} read it aloud to {friend} that evening, leaving out only what concerned {stranger}.
            Later {hero} found that {he} had used the envelope to wrap a {thing} for {stranger}.
        """,
    },
    "garden": {
        "open": """
            The garden behind {civic} belonged to {who}, but {hero} was allowed to walk in it.
            {^when}, {hero} went out to look at the {flower}, and found {animal} among them.
            In the {season} the garden of {who} was full of {flower} and {flower}.
            {who} had planted {flower} along the wall, where there had been nothing but {plants} and a \
{thing}.
            Between the house and {land} there was a strip of ground where {hero} grew {flower} and {grocery}.
        """,
        "body": """
            The {flower} had come from {elsewhere} in a {thing}, wrapped in wet moss.
            By the gate stood {a_tree} that {someone} had planted {ago_plain}.
            Along the wall grew {flower}, {flower} and, in the shade, {plants}.
            {^birds} came down from {land} to look for crumbs among the {flower}.
            {^person} leaned over the wall and gave some advice about {grocery}, which was not asked for.
            The {grocery} had done well that year, but the {grocery} were a disappointment.
            A {thing} had been set upside down over the {flower} to keep off the {pest}.
            {^light} lay on the {flower}, which were {colour} and had almost no scent.
            "They want more water," said {someone}, looking at the {flower}, "and fewer {pest}."
            Who had first thought of planting {flower} next to {grocery}, nobody could tell.
            {^hero} {chore}, moved a {thing} out of the shade and tied up the {flower}.
            The path was laid with {built_of}, and moss grew in the joints.
            At the far end, beside a {thing}, stood a bench on which {someone} used to sit with a {thing}.
            {^sign}, and the {flower} were the first to notice it.
            One bed had been given over to {flower}, because {someone} had once been fond of them.
            Near the pump the ground was soft, and {animal} had left its marks between the {flower}.
            {^who} kept the seed in a {thing}, each sort in an envelope from {elsewhere}.
        """,
        "short": """
            The {flower} were late that year.
            {^someone} preferred {flower}.
            {^animal} had eaten the {flower}.
            Nobody picked the {flower}.
            Were there too many {flower}?
        """,
        "close": """
            It would all have to be done again before {season_next}, and {hero} was {feeling} at the thought.
            {^hero} took home some {flower} and put them in a {thing} on {furniture}.
            Then {small_event}, and the {birds} went back to {land}.
            There was nothing like it at {elsewhere}, said {person}, unless one counted the {plants} by \
{civic}.
            A garden, as {who} liked to say, teaches {virtue} better than {a_person_trade} could.
        """,
    },
    "gathering": {
        "open": """
            Everyone came to {occasion}, which was held that year in {civic_here}.
            For {occasion} the people of {place} had cleaned {civic_here} and hung it with {plants}.
            {^when}, the benches in {civic_here} began to fill for {occasion}.
            {^hero} went to {occasion} with {friend}, who had borrowed a hat from {someone}.
            It was {someone} who had arranged {occasion}, with some help from {a_person_plain}.
        """,
        "body": """
            {^someone} made a speech about {virtue} and {virtue}, and it was generally admired.
            Beside the door stood {a_person_plain} with {carried_plain}, greeting everyone by name.
            The {trade_any} from {elsewhere} sat next to {someone}, and they talked of {grocery}.
            On a long table there were {dish}, {dish} and a bowl of {grocery}.
            {^someone} played {tune} on a {instrument}, and the older people began to dance.
            {^hero} was put next to {person}, who spoke of nothing but {worry_plain}.
            A child had brought {animal} in under a coat, and nobody had the heart to object.
            "Is that not {someone}, over there by the {adj_obj} {obj}?" whispered {friend}.
            Somebody had hung {things} from the beams, where they turned slowly in the warm air.
            {^person} had walked all the way from {elsewhere} and was given the chair by the stove.
            Some of the guests wore {colour_wear}, as was still the custom at {elsewhere}.
            When the bell of {civic} rang, {someone} stood up and thanked the {trade_any} for the {things}.
            There was a short silence in memory of {stranger}, who had always brought the {grocery}.
            {^friend} won a {thing} in the raffle and gave it at once to {person}.
            Was it at {occasion} that {someone} and {someone} had last spoken to each other?
            The windows were open, and {sound} could be heard between the speeches of {person} and {someone}.
            Near the end, {person} spilled a jug of {drink} over the {things}, and it was quickly forgiven.
        """,
        "short": """
            {^someone} wept a little.
            {^someone} had forgotten the {things}.
            Everyone praised the {grocery}.
            {^friend} danced with {someone}.
            Where was {someone}?
            Then {someone} sang {tune}.
        """,
        "close": """
            They went home in twos and threes by {path}, and somebody was still singing {tune}.
            It was agreed that there had not been so good an evening since {occasion}.
            The next day {someone} found a {thing} under a bench, and nobody ever came to claim it.
            {^hero} stayed behind to stack the benches with {someone}, and was {feeling}.
            Long afterward people at {place} would still ask who had brought the {grocery}.
        """,
    },
    "repair": {
        "open": """
            {^when}, {hero} discovered {hurt} in the {building_part} of {civic_here}.
            The {item} that {someone} had left at {room} needed mending, and {hero} put off the {craft} to \
see to it.
            The {building_part} of {civic_here} had leaked since {occasion}, and at last {person} went up \
to look.
            {^friend} had promised {hero} to help with the {building_part}, and came with {carried}.
            There was {hurt} to be seen to before {season_next}, and another, which was worse, beneath it.
        """,
        "body": """
            Underneath there was {hurt}, and behind that {hurt}.
            {^someone} had mended it once before with {mended_with}, and it had held for {age}.
            "It wants {mended_with}," said {friend}, "and somebody with a {thing}."
            {^hero} held the {thing} while {friend} went to fetch {mended_with}.
            The ladder, borrowed from {someone}, was too short by the height of a {obj}.
            They tried {mended_with} first, and after that {mended_with}.
            {^person} stopped by {spot} to watch and told them how it was done at {elsewhere}.
            Inside the wall they found a {thing}, some {things} and a letter that nobody could read.
            Would it not be simpler, {hero} wondered, to send to {elsewhere} for a new {obj_or_part}?
            The wood was sound enough, although {colour} in places, and it smelled of {smell}.
            {^hero} measured it twice with a {thing} and cut it once, {manner}.
            A {trade_any} would have done it better, but the only one was at {elsewhere} until {occasion}.
            {^friend} hit {fhis} thumb, said nothing and asked for the {thing}.
            It was awkward to reach, because of {hurt} and the {things} that stood in the way.
            According to {someone}, who knew about such things, {virtue} and {mended_with} would cure \
anything.
            Twice they had to climb down, once for {mended_with} and once because {small_event}.
            From up there {hero} could see {land}, {far} and the hat of {person}.
        """,
        "short": """
            The {thing} slipped.
            "Pass me the {thing}," said {friend}.
            Where was the {thing}?
            {^someone} offered them {grocery}.
            It was the fault of the {obj}.
            {^hero} tried a {thing} instead.
        """,
        "close": """
            When it was finished it looked no better than before, but {someone} declared that it would last \
{age}.
            They sat down by {spot} afterward, shared some {grocery} and watched how {view}.
            {^hero} kept the old nails in a {thing}, since {virtue} and old nails are never wasted.
            The bill, which {hero} made out to {someone}, came to a basket of {grocery} and the loan of a \
{thing}.
            That night it rained, and {hero} lay awake {span}, listening, and was {feeling}.
        """,
    },
    "walk": {
        "open": """
            {^when}, {hero} took {path} and walked toward {land}.
            From {civic} it was not far to {land}, and {hero} went there whenever {worry} kept {him} awake.
            {^hero} liked {path} best in the {season}, when {sign_now}.
            Past {spot} the street turned into {path}, and the noise of {civic} was left behind.
            {^friend} had asked {hero} to look for {plants} near {land}.
        """,
        "body": """
            {^view}, and far off one could see {far}.
            {^birds} rose from {land}, circled once and came down near {far}.
            There were {plants} on one side and {plants} on the other.
            {^he} stood still {span} and listened to {sound}.
            {^he} met nobody but {a_person_plain} with {carried_plain}, who nodded and went on toward \
{elsewhere}.
            The air smelled of {smell} and, more faintly, of {smell}.
            At the turn of {path} lay a {thing} that somebody from {elsewhere} must have lost.
            {^weather_now}, and {light} made {land} look like the stage of a theatre.
            {^he} walked {manner}, thinking of {worry} and now and then of {dish}.
            On a stone sat {a_person_plain}, mending a {thing} and humming {tune}.
            {^animal} came with {him} as far as {land}, and there it turned back.
            Who had cut the name of {someone} into the post beside {land}?
            Somewhere below, out of sight, {small_event}.
            The ground was soft near {land}, and {he} went round by {land} to keep {his} boots dry.
            An old story had it that {someone} once lost a {thing} there, and that it was never found.
            {^he} picked up a stone that was {colour} on one side, and carried it as far as {land}.
            From {land} came {sound}, then {sound}, and then nothing for a time.
        """,
        "short": """
            {^view}.
            There was no sign of {someone}.
            {^sound} stopped for a moment.
            Was that {sound}?
            {^birds} called from {land}.
            {^someone} had been there before {him}.
        """,
        "close": """
            {^he} turned back at {land}, because {thought}.
            By then {light} had moved on to {far}, and it was time to go home and {do}.
            {^he} came home with {plants_in_hand} and wet feet, and was {feeling}.
            It was only a short walk, but {he} had settled the matter of {worry} on the way.
            Behind {him} {small_event}, and {sound} began again.
        """,
    },
    "building": {
        "open": """
            {^civic_here} at {place} had been built in the time of {stranger}, of {built_of} and {built_of}.
            Strangers who came to {place} were always shown {civic_here}, usually by {person}.
            Nobody was fond of {civic_here}, but nobody at {place} could imagine the street without it.
            {^civic_here} had burned down once, in the year of {bygone}, and been built again in {built_of}.
            {^hero} passed {civic_here} every {part} on the way to {room}.
        """,
        "body": """
            Its {building_part} had been built of {built_of}, and its {building_part}, which was newer, of \
{built_of}.
            Over the door somebody had carved a {obj}, a {obj} and the name of {stranger}.
            Inside there were {things}, a {thing} and the portrait of {a_person_plain}.
            The {building_part} had been added by {stranger}, who ran out of money before the \
{building_part} was done.
            {^birds} had built under the {building_part}, and {person} would not have them disturbed.
            On the inner wall hung a {thing} that had been brought from {elsewhere} for {occasion}.
            It had served as a store for {grocery}, as a school and, for {age}, as nothing at all.
            The key was kept by {stranger}, who wore it on a string with a {thing}.
            According to the old records there had once been a cellar full of {things}.
            When the wind came from {far}, the {building_part} gave out a note like a {instrument}.
            {^person} had measured it from end to end and found that no two walls were the same.
            Why the {building_part} should be {colour}, when everything else was {colour}, was a matter of \
debate.
            In the {season} {light} came through the {building_part} and fell upon a {thing}.
            {^stranger} from {elsewhere} had once offered to buy it, {building_part} and all, for the sake \
of the {objs}.
            Couples met there before {feast}, and old men sat beside it on {adj_obj} benches.
            Between the stones grew {plants}, which {stranger} pulled out every {season_next}.
            The steps were worn in the middle, and {animal} often lay in the hollow.
        """,
        "short": """
            The {building_part} was {colour}.
            {^someone} disliked the {building_part}.
            {^stranger} had paid for the {building_part}.
            Nobody ever used the {thing}.
            Who had chosen the {things}?
            The {things} came from {elsewhere}.
        """,
        "close": """
            It would stand, in the opinion of {person}, for {age} more, provided that nobody tried to \
improve it.
            {^hero} thought it ugly in the {season} and handsome in the {season_next}, like {stranger}'s hat.
            What would be done with it after {occasion} was more than {hero} could say.
            There was a finer one at {elsewhere}, but it had no {obj} over the door and no {fur} cat.
            In any case it kept out the rain, which was more than could be said of the {building_part} at \
{elsewhere}.
        """,
    },
}
