package grounding

import "strings"

// concept is what words of two languages mean in the names and values of results:
// status "pending" is offen, and a figure named seats counts Plätze. Zero is none.
type concept int16

// meanings are the beginnings of words, one concept a line. A word ends as its
// case and number have it; one of three letters must be all of the word.
const meanings = `open offen pending ausstehend anhängig schwebend
sea see
overdue überfällig
late verspät delay delayed
due fällig
done erledigt finished fertig completed abgeschlossen complete
closed geschlossen beendet ended
active aktiv
inactive inaktiv
running läuft laufend laufen
approved genehmigt bewilligt granted gewährt
rejected abgelehnt declined refused zurückgewiesen dismissed
draft entwurf entwürfe
review prüfung prüfen geprüft
submitted eingereicht submission einreichung filed
requested beantragt request anfrage angefragt
cancelled canceled storniert abgesagt cancel
confirmed bestätigt
paid bezahlt gezahlt beglichen
unpaid unbezahlt outstanding unbeglichen
booked gebucht booking buchung
reserved reserviert vorgemerkt reservation
customs zoll
delivered geliefert zugestellt delivery lieferung
shipped versandt verschickt versendet sent gesendet
returned zurückgegeben retour
available verfügbar availability
planned geplant scheduled angesetzt
failed fehlgeschlagen gescheitert failure
down ausgefallen ausfall
healthy gesund
degraded beeinträchtigt
resolved behoben gelöst
stopped gestoppt angehalten
sick krank illness
vacation urlaub holiday
signed unterschrieben unterzeichnet
received eingegangen erhalten empfangen
waiting wartend warteliste warten
expired abgelaufen
valid gültig
blocked gesperrt locked
critical kritisch
high hoch hohe
medium mittel
low niedrig gering
free frei
occupied belegt besetzt
vacant leer leerstehend leerstand
let vermietet rented
lent ausgeliehen verliehen entliehen borrowed loan ausleihe
ready bereit abholbereit
live produktiv
draught zugluft
new neu
used gebraucht
broken defekt kaputt
repaired repariert repair reparatur
graded bewertet benotet korrigiert
dose dosis dosen
tablet tablette
debit abbuchung belastung lastschrift
credit gutschrift eingang
pupil schulkind
exam klausur
checkedin eingecheckt
checkedout ausgecheckt
soldout ausverkauft
inprogress bearbeitung
onhold angehalten
rolledback zurückgerollt
pickedup abgeholt
outofstock vergriffen
fermenting gären gärt gärend
leaking undicht
breakfast frühstück
tested getestet test
passed bestanden
missing fehlend fehlt vermisst
damaged beschädigt damage schaden schäden
claimant kläger plaintiff
defendant beklagt
witness zeug
expert sachverständig
judge richter
opponent gegner
vehicle fahrzeug car auto autos
truck lkw lastwagen
trailer anhänger
driver fahrer
tenant mieter
owner eigentümer inhaber besitzer
landlord vermieter
manager leiter lead leitung
customer kunde kundin kunden client mandant
supplier lieferant
worker arbeiter bauarbeiter
employee mitarbeiter beschäftigte staff personal angestellte
member mitglied
guest gast gäste
patient
doctor arzt ärztin
nurse pflegekraft pflegekräfte pfleger
teacher lehrer lehrkraft
student schüler studierende studentin studenten
child kind kinder children kid
adult erwachsen
participant teilnehm attendee
speaker vortragend redner referent
reviewer gutachter
author autor verfasser
visitor besucher
person personen people leute
team mannschaft
flat wohnung wohnungen apartment
house haus häuser
room zimmer räume raum
floor stock etage stockwerk geschoss
building gebäude
site standort anlage
station bahnhof haltestelle
branch filiale zweigstelle
department abteilung
warehouse lager
shelf regal
pallet palette
container
parcel paket
box kiste karton
bottle flasche
piece stück stücke
item artikel position
order bestellung auftrag aufträge
invoice rechnung
payment zahlung
quote angebot offer angebote
contract vertrag verträge
ticket karte karten
seat sitz sitzplatz sitzplätze plätze
place platz
talk vortrag vorträge
session sitzung
meeting besprechung
appointment termin
visit besuch
hearing verhandlung anhörung
deadline frist
task aufgabe
project projekt
case fall fälle cases
matter akte
party partei
court gericht
patent
document dokument unterlage
page seite
book buch bücher
copy exemplar
course kurs
lesson stunde unterricht
class klasse
exam prüfungen klausur
grade note noten
article beitrag
report bericht befund
message nachricht
reply antwort
call anruf
email mail
incident störung vorfall incidents
fault fehler faults
error fehlern errors
alert alarm warnung warning
server
node knoten
service dienst
release version
commit
module modul
machine maschine
tool werkzeug
part teil teile bauteil
panel paneel
battery batterie akku
engine motor
bed bett betten
night nacht nächte übernachtung
day tag tage
week woche
month monat
year jahr
hour stunden
minute
price preis
cost kosten expense ausgabe
rent miete mieten
deposit kaution
fee gebühr
tax steuer
duty zölle
discount rabatt
budget
spent ausgegeben verbraucht verausgabt
committed gebunden
revenue umsatz erlös einnahmen income
profit gewinn
loss verlust
salary gehalt
arrears backlog rückstand
balance saldo kontostand guthaben
amount betrag
total gesamt summe
share anteil
rate satz
capacity kapazität
registered angemeldet registration anmeldung
sold verkauft sale verkauf
inventory bestand vorrat
weight gewicht wiegt weighs
length länge
width breite
height höhe
area fläche
volume volumen
distance entfernung strecke
mileage kilometerstand
speed geschwindigkeit
temperature temperatur
power leistung
energy energie strom
yield ertrag
expected erwartet forecast prognose
target ziel zielwert soll
actual tatsächlich
previous vorherig vorjahr vormonat
change änderung veränderung
limit grenze obergrenze
minimum mindest
maximum höchst
average durchschnitt mittelwert
progress fortschritt
vote stimme
goal tor tore
point punkt
rank rang
score punktzahl
age alter
birth geburt geboren
phone telefon
address adresse anschrift
street straße
city stadt
country land
language sprache
name
title titel
colour farbe color
size größe
status
priority priorität
sponsor förderer
donor spender
donation spende
grant fördermittel förderung
application antrag anträge bewerbung
applicant bewerber antragsteller
candidate kandidat
vacancy stelle stellen positions
species art arten
tree baum bäume
plant pflanze
animal tier tiere
dog hund
cat katze
horse pferd
sample probe
measurement messung
reading ablesung
sensor
recipe rezept
meal mahlzeit
table tisch
bike fahrrad fahrräder bicycle
bus busse
train zug züge
flight flug flüge
tour
trip fahrt reise
route
boat boot
ship schiff vessel
crew besatzung
berth liegeplatz
concert konzert
exhibit exponat ausstellungsstück
exhibition ausstellung
artist künstler
painting gemälde
song lied lieder
player spieler
match spiel spiele
club verein
volunteer freiwillig ehrenamt
shift schicht
absent abwesend
present anwesend
vegetarian vegetarisch
single einzelzimmer
double doppelzimmer
insured versichert insurance versicherung
inspection inspektion
maintenance wartung
replaced ersetzt getauscht ausgetauscht
installed installiert eingebaut
ordered bestellt
assigned zugewiesen
unassigned unbesetzt
urgent dringend
normal
gold
silver silber
bronze
public öffentlich
private privat
online
offline
remote fernzugriff
urban städtisch
rolled
transit unterwegs
picked
packed gepackt
published veröffentlicht
accepted angenommen
withdrawn zurückgezogen
appealed angefochten appeal berufung
postponed verschoben
paused pausiert
archived archiviert
merged zusammengeführt
infected infiziert
vaccinated geimpft
harvested geerntet
planted gepflanzt
sown gesät
flowering blühend`

// stems finds the concept of a word by its beginning.
var stems = func() map[string]concept {
	m := map[string]concept{}
	for i, line := range strings.Split(meanings, "\n") {
		for _, stem := range strings.Fields(line) {
			m[stem] = concept(i + 1)
		}
	}
	return m
}()

// maxEnding is how many letters a word may have after its stem.
const maxEnding = 5

// meaning is what a word means, by which it is compared with one of another
// language or with another ending.
func meaning(word string) string {
	if len(word) < 3 {
		return ""
	}
	if bare, ok := strings.CutPrefix(word, "un"); ok && len(bare) > 4 && conceptOf(word) == 0 && conceptOf(bare) > 0 {
		word = bare
	}
	if c := conceptOf(word); c > 0 {
		return conceptNames[c]
	}
	for _, end := range []string{"en", "es", "s", "n", "e"} {
		if stem, ok := strings.CutSuffix(word, end); ok && len(stem) >= 4 {
			return stem
		}
	}
	return word
}

// conceptNames are the first words of the concepts.
var conceptNames = func() []string {
	list := []string{""}
	for _, line := range strings.Split(meanings, "\n") {
		first, _, _ := strings.Cut(line, " ")
		list = append(list, "="+first)
	}
	return list
}()

// means are the meanings of the words of a name or a short value.
func (e *Evidence) means(name string) []string {
	if list, ok := e.meant[name]; ok {
		return list
	}
	list := []string{}
	if c := conceptOf(strings.ReplaceAll(fold(strings.ReplaceAll(name, "_", " ")), " ", "")); c > 0 && strings.ContainsAny(name, "_ -") {
		list = append(list, conceptNames[c])
	}
	for _, w := range strings.Fields(fold(strings.ReplaceAll(name, "_", " "))) {
		if m := meaning(w); m != "" && !begins[w] {
			list = append(list, m)
		}
	}
	e.meant[name] = list
	return list
}

// conceptOf is what a word in small letters means.
func conceptOf(word string) concept {
	if stem, ok := strings.CutSuffix(word, "ies"); ok && stems[stem+"y"] > 0 {
		return stems[stem+"y"]
	}
	for n := len(word); n >= 3 && len(word)-n <= maxEnding; n-- {
		if c := stems[word[:n]]; c > 0 && (n > 3 || n == len(word) || word[n:] == "s" || word[n:] == "e" || word[n:] == "en") {
			return c
		}
	}
	return 0
}
